import { defineJobChange } from '../hub/job-changes.ts';

/**
 * `signalbox job cancel ID…`: cancels jobs. A running one ends when its agent has stopped the tool.
 * With `--json`: `{ok, results}`, one result `{jobId, result, status, error, message}` for each.
 */
export const command = defineJobChange('cancel', [
  ['signalbox job cancel 8f3a1c2d', 'one job'],
  ['signalbox job cancel 8f3a1c2d 5b0e9f77 --reason "Obsolete"', 'two, with a reason'],
]);
