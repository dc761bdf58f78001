import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import { titleOf } from '../jobs/title.ts';
import { isByEndOfJob } from './policy.ts';
import type { ResolutionRow } from './store-resolutions.ts';

/**
 * The refusal for whom somebody else was faster: says who resolved it, when and how.
 *
 * @param advice what to do, in one sentence.
 */
export function alreadyResolved(resolution: ResolutionRow | undefined, advice: string): HubError {
  if (resolution === undefined) return new HubError('ALREADY_RESOLVED', advice);
  const deed = describeResolution(resolution, `"${titleOf(resolution.value)}"`);
  const at = timestampOf(resolution.created_at);
  return new HubError('ALREADY_RESOLVED', `${deed} at ${at}. ${advice}`);
}

/**
 * Who resolved it, and how, as the beginning of a sentence.
 *
 * @param value the answer, in quotation marks; null: not to be told.
 */
export function describeResolution(resolution: ResolutionRow, value: string | null): string {
  const { created_by: by, mode } = resolution;
  const deeds = {
    answered: `answered ${value ?? 'it'}`,
    assumed: `let the assumed value ${value === null ? '' : `${value} `}stand`,
    dismissed: 'dismissed it',
  };
  const who = by ?? (isByEndOfJob(resolution) ? 'The end of its job' : 'The deadline');
  return `${who} ${deeds[mode]}`;
}
