import type { CheckOutcome } from '@signalbox/contract';

/** How a check ended, as text. */
export function describe(outcome: CheckOutcome, exitCode: number | null | undefined): string {
  switch (outcome) {
    case 'passed':
      return 'passed';
    case 'failed':
      return exitCode === null || exitCode === undefined ? 'was killed' : `exited with ${exitCode}`;
    case 'timed_out':
      return 'reached its time limit';
    case 'refused':
      return 'could not be started';
    case 'stopped':
      return 'was stopped with the agent or the job';
  }
}
