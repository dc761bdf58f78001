import { AGENT_HEARTBEAT_INTERVAL_MS } from '@signalbox/contract';
import { summarizeLatency } from '../statistics.ts';
import { type Connection, openConnections, type Target } from './connection.ts';
import { Claimants, Deliveries, prepareEnqueue } from './deliveries.ts';
import { type Queue, requireOk } from './hub-calls.ts';
import type { LoadAgent, LoadReport } from './load-report.ts';
import { ConnectionPool, sendAtRate } from './paced-sender.ts';
import { formatBeat, registerAll } from './registration.ts';
import { type Mark, Span, type SpanSpec } from './span.ts';

/** Very many online agents, each waiting in a long poll, and few jobs. */
export interface CrowdLoad extends SpanSpec, Queue {
  readonly kind: 'crowd';
  readonly target: Target;
  readonly tokens: readonly string[];
  readonly agentCount: number;
  readonly jobsPerSecond: number;
}

/** Connections for heartbeats, in addition to the one on which each agent waits. */
const HEARTBEAT_CONNECTIONS = 256;
const ENQUEUE_CONNECTIONS = 32;
/** The first long polls time out one after another within this time. */
const FIRST_WAIT_MS_MAX = 25_000;
const FIRST_WAIT_MS_MIN = 1_000;

/** @throws Error on the first wrong answer, and if a job is delivered twice or not at all. */
export async function runCrowdLoad(
  spec: CrowdLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const beating = await openConnections([spec.target], HEARTBEAT_CONNECTIONS);
  const enqueueing = await openConnections([spec.target], ENQUEUE_CONNECTIONS);
  const beats = Array.from({ length: spec.agentCount }, (_, at) => formatBeat(spec, at, 'crowd'));
  const agents = await registerAll(spec, beating, beats);
  const parked = await openConnections([spec.target], spec.agentCount);
  const deliveries = new Deliveries();
  const claimants = new Claimants(spec, deliveries);
  for (const [at, connection] of parked.entries()) {
    const share = at / spec.agentCount;
    const waitMs = Math.round(FIRST_WAIT_MS_MIN + share * (FIRST_WAIT_MS_MAX - FIRST_WAIT_MS_MIN));
    claimants.add(connection, requireAgent(agents, at), spec.target, waitMs);
  }

  const span = new Span(spec, onMark);
  const heartbeatsMs: number[] = [];
  const beat = async (connection: Connection, number: number) => {
    const sentMs = performance.now();
    await requireOk(connection, beats[number % beats.length] ?? '', 'heartbeat');
    if (span.holds(sentMs)) heartbeatsMs.push(performance.now() - sentMs);
  };
  const enqueue = prepareEnqueue(deliveries, spec, requireAgent(agents, 0), spec.target);
  const beatsPerSecond = (spec.agentCount * 1_000) / AGENT_HEARTBEAT_INTERVAL_MS;
  await claimants.watch(
    Promise.all([
      sendAtRate(new ConnectionPool(beating), beatsPerSecond, span, beat),
      sendAtRate(new ConnectionPool(enqueueing), spec.jobsPerSecond, span, enqueue),
    ]),
  );
  await claimants.watch(deliveries.drain());
  const generatorCpuMs = await span.measureOwnCpuMs();
  claimants.end();
  for (const connection of [...parked, ...beating, ...enqueueing]) connection.close();
  const { count, delivery } = deliveries.summarize(span);
  return {
    count,
    seconds: spec.measureMs / 1_000,
    generatorCpuMs,
    latency: {
      delivery: summarizeLatency(delivery),
      heartbeat: summarizeLatency(heartbeatsMs),
    },
    totals: { agents: agents.length, jobs: deliveries.count, heartbeats: heartbeatsMs.length },
  };
}

function requireAgent(agents: readonly LoadAgent[], at: number): LoadAgent {
  const agent = agents[at];
  if (agent === undefined) throw new Error(`agent ${at} was not registered`);
  return agent;
}
