import { summarizeLatency } from '../statistics.ts';
import { type Connection, openConnections, type Target } from './connection.ts';
import { formatPost, requireOk } from './hub-calls.ts';
import type { LoadReport } from './load-report.ts';
import { type Mark, Span, type SpanSpec } from './span.ts';

/** The same request repeatedly, on each connection as soon as the previous one is answered. */
export interface PostLoad extends SpanSpec {
  readonly kind: 'post';
  readonly targets: readonly Target[];
  readonly path: string;
  readonly token: string;
  /** Preformatted JSON texts, used in turn. */
  readonly bodies: readonly string[];
  readonly connections: number;
}

/** @throws Error on the first answer that is not 200. */
export async function runPostLoad(
  spec: PostLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const connections = await openConnections(spec.targets, spec.connections);
  const [target] = spec.targets;
  if (target === undefined) throw new Error('a load needs a target');
  const requests = spec.bodies.map((body) => formatPost(target, spec.path, spec.token, body));
  const span = new Span(spec, onMark);
  const latenciesMs: number[] = [];
  let turn = 0;

  async function post(connection: Connection): Promise<void> {
    while (span.isOpen()) {
      const sentMs = performance.now();
      await requireOk(connection, requests[turn++ % requests.length] ?? '', spec.path);
      const answeredMs = performance.now();
      if (span.holds(answeredMs)) latenciesMs.push(answeredMs - sentMs);
    }
  }

  await Promise.all(connections.map(post));
  const generatorCpuMs = await span.measureOwnCpuMs();
  for (const connection of connections) connection.close();
  return {
    count: latenciesMs.length,
    seconds: spec.measureMs / 1_000,
    generatorCpuMs,
    latency: { request: summarizeLatency(latenciesMs) },
    totals: {},
  };
}
