import { timestampOf } from '../clock.ts';
import { HubError } from '../errors.ts';
import { titleOf } from '../jobs/title.ts';
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
  return new HubError(
    'ALREADY_RESOLVED',
    `${by ?? 'The deadline'} ${deeds[mode]} at ${at}. ${advice}`,
  );
}
