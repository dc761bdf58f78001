import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { HubSession } from './hub-session.ts';
import { collectPages } from './pages.ts';
import { oneLine } from './text.ts';

const fullId = /^job_[0-9a-z]{26,}$/;
/** Short IDs are searched among this number of latest jobs. */
const SEARCHED_JOBS_MAX = 1_000;
/** Shorter endings would soon be ambiguous. */
const SHORT_CHARS_MIN = 4;

/**
 * Resolves a job reference to an ID: a full ID, or the end of one as printed by `signalbox jobs`,
 * if it matches exactly one of the latest 1,000 jobs.
 * @throws {CliError} JOB_NOT_FOUND, JOB_AMBIGUOUS.
 */
export async function findJobId(
  { client, workspaceId }: HubSession,
  text: string,
  signal: AbortSignal,
): Promise<string> {
  if (fullId.test(text)) return text;
  const ending = text.replace(/^job_/, '').toLowerCase();
  if (ending.length < SHORT_CHARS_MIN || !/^[0-9a-z]+$/.test(ending)) throw notFound(text);
  const { rows } = await collectPages(SEARCHED_JOBS_MAX, async (page) => {
    const list = { workspaceId, view: 'summary', ...page } as const;
    const { jobs, nextCursor } = await client.jobs.list(list, { signal });
    return { rows: jobs, nextCursor };
  });
  const [first, ...others] = rows.filter(({ jobId }) => jobId.endsWith(ending));
  if (first === undefined) throw notFound(text);
  if (others.length === 0) return first.jobId;
  const ids = [first, ...others].map(({ jobId }) => jobId).join(', ');
  throw new CliError(exitCodes.usage, 'JOB_AMBIGUOUS', `Several jobs end in "${ending}": ${ids}.`, {
    fix: `Give more of the ID, such as: signalbox job ${first.jobId}`,
  });
}

function notFound(text: string): CliError {
  const shown = oneLine(text).slice(0, 60);
  return new CliError(
    exitCodes.refused,
    'JOB_NOT_FOUND',
    `No job has the ID "${shown}", and none of the latest ${SEARCHED_JOBS_MAX} IDs ends with it.`,
    { fix: 'List jobs: signalbox jobs' },
  );
}
