import type { CheckOutcome } from '@signalbox/contract';

const ends = {
  passed: 'passed',
  timed_out: 'reached its time limit',
  refused: 'could not be started',
  stopped: 'was stopped with the agent or the job',
} as const;

/** How a check ended, as text. */
export function describe(outcome: CheckOutcome, exitCode: number | null | undefined): string {
  if (outcome !== 'failed') return ends[outcome];
  return exitCode == null ? 'was killed' : `exited with ${exitCode}`;
}
