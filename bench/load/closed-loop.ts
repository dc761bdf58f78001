import { summarizeLatency } from '../statistics.ts';
import type { LoadReport } from './load-report.ts';
import type { Span, SpanSpec } from './span.ts';

/** Runs `inFlight` concurrent cycles until the time is over. @throws the error of a cycle. */
export async function runClosedLoop(
  span: Span,
  { measureMs }: SpanSpec,
  inFlight: number,
  cycle: () => Promise<void>,
): Promise<LoadReport> {
  const cyclesMs: number[] = [];
  let cycles = 0;
  const run = async () => {
    while (span.isOpen()) {
      const beganMs = performance.now();
      await cycle();
      cycles++;
      const endedMs = performance.now();
      if (span.holds(endedMs)) cyclesMs.push(endedMs - beganMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, run));
  return {
    count: cyclesMs.length,
    seconds: measureMs / 1_000,
    generatorCpuMs: await span.measureOwnCpuMs(),
    latency: { cycle: summarizeLatency(cyclesMs) },
    totals: { cycles },
  };
}
