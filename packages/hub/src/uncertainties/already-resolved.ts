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
  const { created_by: by, mode, value, created_at: atMs } = resolution;
  const text = titleOf(value);
  const deeds = {
    answered: `answered "${text}"`,
    assumed: `let the assumed value "${text}" stand`,
    dismissed: 'dismissed it',
  };
  const at = timestampOf(atMs);
  const who = by ?? (isByEndOfJob(resolution) ? 'The end of its job or session' : 'The deadline');
  return new HubError('ALREADY_RESOLVED', `${who} ${deeds[mode]} at ${at}. ${advice}`);
}
