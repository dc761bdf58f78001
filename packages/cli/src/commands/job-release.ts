import { defineJobChange } from '../hub/job-changes.ts';

/**
 * `signalbox job release ID…`: takes running jobs from their agents. Others can claim them then.
 * Later writes of those agents are refused. Only people may do this. With `--json`: `{ok,
 * results}`, one result `{jobId, result, status, error, message}` for each.
 */
export const command = defineJobChange('release', [
  ['signalbox job release 8f3a1c2d --reason "The machine is off"', 'its agent is gone'],
]);
