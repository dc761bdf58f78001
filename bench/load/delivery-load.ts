import { summarizeLatency } from '../statistics.ts';
import { openConnections, type Target } from './connection.ts';
import { Claimants, Deliveries, prepareEnqueue } from './deliveries.ts';
import type { Queue } from './hub-calls.ts';
import type { LoadAgent, LoadReport } from './load-report.ts';
import { ConnectionPool, sendAtRate } from './paced-sender.ts';
import { type Mark, Span, type SpanSpec } from './span.ts';

/** Jobs at a steady rate, independent of answer times, for waiting agents. */
export interface DeliveryLoad extends SpanSpec, Queue {
  readonly kind: 'delivery';
  readonly enqueueTarget: Target;
  readonly claimTarget: Target;
  /** Each agent waits on its own connection. */
  readonly agents: readonly LoadAgent[];
  readonly ratePerSecond: number;
}

/** Enough connections that a slow answer does not delay the next enqueue. */
const ENQUEUE_CONNECTIONS = 64;
/** @throws Error on a wrong answer, a missed rate, or a job delivered twice or not at all. */
export async function runDeliveryLoad(
  spec: DeliveryLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const claiming = await openConnections([spec.claimTarget], spec.agents.length);
  const enqueueing = await openConnections([spec.enqueueTarget], ENQUEUE_CONNECTIONS);
  const deliveries = new Deliveries();
  const claimants = new Claimants(spec, deliveries);
  for (const [number, connection] of claiming.entries()) {
    claimants.add(connection, agentOf(spec, number), spec.claimTarget);
  }
  const span = new Span(spec, onMark);
  const enqueue = prepareEnqueue(deliveries, spec, agentOf(spec, 0), spec.enqueueTarget);
  const pool = new ConnectionPool(enqueueing);
  await claimants.watch(sendAtRate(pool, spec.ratePerSecond, span, enqueue));
  await claimants.watch(deliveries.drain());
  const generatorCpuMs = await span.measureOwnCpuMs();
  claimants.end();
  for (const connection of [...claiming, ...enqueueing]) connection.close();
  const { count, delivery, wholeWay } = deliveries.summarize(span);
  return {
    count,
    seconds: spec.measureMs / 1_000,
    generatorCpuMs,
    latency: { delivery: summarizeLatency(delivery), wholeWay: summarizeLatency(wholeWay) },
    totals: { jobs: deliveries.count },
  };
}

function agentOf({ agents }: DeliveryLoad, number: number): LoadAgent {
  const agent = agents[number];
  if (agent === undefined) throw new Error('a connection needs an agent');
  return agent;
}
