import { setTimeout as wait } from 'node:timers/promises';
import { AGENT_HEARTBEAT_INTERVAL_MS } from '@signalbox/contract';
import { summarizeLatency } from '../statistics.ts';
import { readField } from './answer-reader.ts';
import { type Connection, openConnections, type Target } from './connection.ts';
import {
  type AgentWorld,
  formatBeats,
  type LoadAgent,
  prepareRequests,
  readClaim,
  registerAll,
  requireOk,
} from './hub-calls.ts';
import type { LoadReport } from './load-report.ts';
import { type Mark, Span, type SpanSpec } from './span.ts';
import { sendStreams, takeTurns } from './streams.ts';

/** Agents that each wait for a job in a long poll, and jobs by the clock. */
export interface WaitingLoad extends SpanSpec, AgentWorld {
  readonly kind: 'waiting';
  /** The hub that takes the jobs; the agents wait at `target`. */
  readonly enqueueTarget: Target;
  readonly jobsPerSecond: number;
}

/** Enough that a slow answer does not delay the next request. */
const BEAT_CONNECTIONS = 256;
const ENQUEUE_CONNECTIONS = 64;
/** How long a claim waits; our own agents use the same time. */
const CLAIM_WAIT_MS = 25_000;
/** The first long polls time out one after another, from this time on. */
const FIRST_WAIT_MS_MIN = 1_000;
/** Fewer calls answered by the end mean that the hub could not keep up. */
const ANSWERED_SHARE_MIN = 0.98;
/** Time limit for the last jobs to be claimed and completed. */
const DRAIN_MS_MAX = 10_000;

/** The times of one job. The claim may be answered before the enqueue. */
interface Delivery {
  sentMs?: number;
  enqueuedMs?: number;
  claimedMs?: number;
}

interface Run {
  readonly spec: WaitingLoad;
  readonly byJob: Map<string, Delivery>;
  completed: number;
  isOver: boolean;
}

/** @throws Error on a wrong answer, a missed rate, or a job delivered twice or not at all. */
export async function runWaitingLoad(
  spec: WaitingLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const run: Run = { spec, byJob: new Map(), completed: 0, isOver: false };
  const beating = await openConnections([spec.target], Math.min(BEAT_CONNECTIONS, spec.agentCount));
  const enqueueing = await openConnections([spec.enqueueTarget], ENQUEUE_CONNECTIONS);
  const beats = formatBeats(spec);
  const agents = await registerAll(spec, beating, beats);
  const parked = await openConnections([spec.target], spec.agentCount);
  const claims = agents.map(async (agent, at) => {
    const connection = parked[at];
    if (connection === undefined) throw new Error('an agent needs a connection');
    const share = at / spec.agentCount;
    await claimRepeatedly(run, connection, agent, share).catch((error: unknown) => {
      // Claims still waiting at the end are aborted by closing their connections.
      if (!run.isOver) throw error;
    });
  });
  const failed = Promise.all(claims).then(() => Promise.race<never>([]));

  const span = new Span(spec, onMark);
  const beat = async (connection: Connection, number: number) => {
    await requireOk(connection, beats[number % beats.length] ?? '', 'heartbeat');
  };
  const beatsPerSecond = (spec.agentCount * 1_000) / AGENT_HEARTBEAT_INTERVAL_MS;
  const enqueue = prepareEnqueue(run, agents);
  const streams = [
    { perSecond: beatsPerSecond, send: takeTurns(beating, beat) },
    { perSecond: spec.jobsPerSecond, send: takeTurns(enqueueing, enqueue) },
  ];
  const share = await Promise.race([failed, sendStreams(streams, span)]);
  if (share < ANSWERED_SHARE_MIN) {
    throw new Error(`only ${Math.floor(share * 100)} % of the calls were answered in time`);
  }
  await Promise.race([failed, drain(run)]);
  const generatorCpuMs = await span.measureOwnCpuMs();
  run.isOver = true;
  for (const connection of [...parked, ...beating, ...enqueueing]) connection.close();
  const delivery = summarizeDeliveries(run, span);
  return {
    count: delivery.length,
    seconds: spec.measureMs / 1_000,
    generatorCpuMs,
    latency: { delivery: summarizeLatency(delivery) },
    totals: {},
  };
}

/** Returns a function that enqueues one job and records the time of the answer. */
function prepareEnqueue({ spec, byJob }: Run, [agent]: readonly LoadAgent[]) {
  if (agent === undefined) throw new Error('a load needs an agent');
  const request = prepareRequests(spec, agent, spec.enqueueTarget).enqueue;
  return async (connection: Connection) => {
    const sentMs = performance.now();
    const jobId = readField(await requireOk(connection, request, 'enqueue'), 'jobId');
    if (jobId === null) throw new Error('an enqueue was answered without a job');
    byJob.set(jobId, { ...byJob.get(jobId), sentMs, enqueuedMs: performance.now() });
  };
}

/** Waits for jobs and completes them immediately, until the end. */
async function claimRepeatedly(
  run: Run,
  connection: Connection,
  agent: LoadAgent,
  share: number,
): Promise<void> {
  const { spec, byJob } = run;
  const requests = prepareRequests(spec, agent, spec.target);
  const request = requests.claim(CLAIM_WAIT_MS);
  const firstMs = FIRST_WAIT_MS_MIN + share * (CLAIM_WAIT_MS - FIRST_WAIT_MS_MIN);
  let next = requests.claim(Math.round(firstMs));
  while (!run.isOver) {
    const claim = readClaim(await requireOk(connection, next, 'claim-next'));
    next = request;
    if (claim === null) continue;
    const known = byJob.get(claim.jobId);
    if (known?.claimedMs !== undefined) throw new Error(`${claim.jobId} was granted twice`);
    byJob.set(claim.jobId, { ...known, claimedMs: performance.now() });
    await requireOk(connection, requests.complete(claim), 'complete');
    run.completed++;
  }
}

/** Resolves when every job is completed. @throws if that takes too long. */
async function drain(run: Run): Promise<void> {
  const limitMs = performance.now() + DRAIN_MS_MAX;
  while (run.completed < run.byJob.size) {
    if (performance.now() > limitMs) throw new Error('some jobs were not delivered in time');
    await wait(5);
  }
}

/** From the answer to the enqueue to that of the claim, of jobs sent during the measurement. */
function summarizeDeliveries({ byJob }: Run, span: Span): number[] {
  const delivery: number[] = [];
  for (const [jobId, { sentMs, enqueuedMs, claimedMs }] of byJob) {
    if (sentMs === undefined || enqueuedMs === undefined || claimedMs === undefined) {
      throw new Error(`${jobId} was not delivered`);
    }
    if (span.holds(sentMs)) delivery.push(Math.max(0, claimedMs - enqueuedMs));
  }
  return delivery;
}
