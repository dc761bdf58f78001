// Loaded into the measured hub: tells how long its event loop was kept busy at a time, and how many
// statements it ran.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { StatementSync } from 'node:sqlite';
import { answerQuestions } from '../attack/asking.ts';

const RESOLUTION_MS = 5;
const NS_PER_MS = 1_000_000;

/** Figures of the hub since the question before. */
export interface HubSeen {
  /** The times for which its event loop was busy without a pause. */
  readonly loopMaxMs: number;
  readonly loopP99Ms: number;
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

answerQuestions(async () => {
  // A value is the time from one look to the next, so it contains the resolution.
  const timeOf = (valueNs: number) => Math.max(0, valueNs / NS_PER_MS - RESOLUTION_MS);
  const seen: HubSeen = {
    loopMaxMs: timeOf(histogram.max),
    loopP99Ms: timeOf(histogram.percentile(99)),
    statements,
  };
  histogram.reset();
  statements = 0;
  return seen;
});
// The channel must not keep the hub from ending.
process.channel?.unref();
