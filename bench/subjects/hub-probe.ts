// Loaded into the measured hub: tells how long its event loop was kept busy at a time, and how many
// statements it ran.
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { StatementSync } from 'node:sqlite';
import { answerQuestions } from './asking.ts';

const RESOLUTION_MS = 5;
const NS_PER_MS = 1_000_000;
const US_PER_MS = 1_000;

/** Figures of the hub since the question before. */
export interface HubSeen {
  /** The times for which its event loop was busy without a pause. */
  readonly loopMaxMs: number;
  readonly loopP99Ms: number;
  /**
   * Processor time of the event loop, which other programs on the machine do not change: the most
   * that it took without a pause, and what it took from the arrival of a call to its answer, for
   * the calls of clients that name themselves, as the SDK does. Claims may wait and do not count.
   */
  readonly turnCpuMaxMs: number;
  readonly callCpuP99Ms: number;
  readonly callCpuMaxMs: number;
  /** Statements on SQLite, those of transactions included. */
  readonly statements: number;
}

let statements = 0;
const { prototype } = StatementSync;
for (const name of ['get', 'all', 'run'] as const) {
  const original: (this: StatementSync, ...values: never[]) => unknown = prototype[name];
  prototype[name] = function counted(this: StatementSync, ...values: never[]) {
    statements += 1;
    return original.apply(this, values);
    // One function for three signatures, each of which passes its values on as they are.
  } as never;
}

const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / US_PER_MS;
};
let turnCpuMaxMs = 0;
let lookedCpuMs = cpuMs();
setInterval(() => {
  const now = cpuMs();
  turnCpuMaxMs = Math.max(turnCpuMaxMs, now - lookedCpuMs);
  lookedCpuMs = now;
}, RESOLUTION_MS).unref();

let callsCpuMs: number[] = [];
const beganCpuMs = new WeakMap<IncomingMessage, number>();
// Node's own messages; their shape is part of its documentation.
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  const isCounted = request.headers['user-agent'] !== undefined && !request.url?.includes('claim');
  if (isCounted) beganCpuMs.set(request, cpuMs());
});
subscribe('http.server.response.finish', (message) => {
  const began = beganCpuMs.get((message as { request: IncomingMessage }).request);
  if (began !== undefined) callsCpuMs.push(cpuMs() - began);
});

answerQuestions(async () => {
  // A value is the time from one look to the next, so it contains the resolution.
  const timeOf = (valueNs: number) => Math.max(0, valueNs / NS_PER_MS - RESOLUTION_MS);
  const seen: HubSeen = {
    loopMaxMs: timeOf(histogram.max),
    loopP99Ms: timeOf(histogram.percentile(99)),
    turnCpuMaxMs,
    callCpuP99Ms: percentile(callsCpuMs, 0.99),
    callCpuMaxMs: percentile(callsCpuMs, 1),
    statements,
  };
  histogram.reset();
  turnCpuMaxMs = 0;
  callsCpuMs = [];
  statements = 0;
  return seen;
});
// The channel must not keep the hub from ending.
process.channel?.unref();

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
