// Loaded into the measured hub: tells how long its event loop was kept busy at a time.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { answerQuestions } from './asking.ts';

const RESOLUTION_MS = 5;
const NS_PER_MS = 1_000_000;

export interface LoopDelay {
  readonly maxMs: number;
  readonly p99Ms: number;
}

const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();

answerQuestions(async () => {
  // A value is the time from one look to the next, so it contains the resolution.
  const timeOf = (valueNs: number) => Math.max(0, valueNs / NS_PER_MS - RESOLUTION_MS);
  const delay: LoopDelay = {
    maxMs: timeOf(histogram.max),
    p99Ms: timeOf(histogram.percentile(99)),
  };
  histogram.reset();
  return delay;
});
// The channel must not keep the hub from ending.
process.channel?.unref();
