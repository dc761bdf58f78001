import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { HubSession } from './hub-session.ts';
import { collectPages } from './pages.ts';
import { oneLine } from './text.ts';

const fullId = /^job_[0-9a-z]{26,}$/;
/** Short ids are looked for among this many of the latest jobs. */
const SEARCHED_JOBS_MAX = 1_000;
/** Fewer characters would be ambiguous before long. */
const SHORT_CHARS_MIN = 4;

/**
 * The id of the job that a person means: a full one as it is, or the end of one, as
 * `signalbox jobs` shows it, when it fits only one of the latest 1,000 jobs.
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
    const { jobs, nextCursor } = await client.jobs.list({ workspaceId, ...page }, { signal });
    return { rows: jobs, nextCursor };
  });
  const [first, ...others] = rows.filter(({ jobId }) => jobId.endsWith(ending));
  if (first === undefined) throw notFound(text);
  if (others.length === 0) return first.jobId;
  const ids = [first, ...others].map(({ jobId }) => jobId).join(', ');
  throw new CliError(exitCodes.usage, 'JOB_AMBIGUOUS', `Several jobs end in "${ending}": ${ids}.`, {
    fix: `Type more of the id, as in: signalbox job ${first.jobId}`,
  });
}

function notFound(text: string): CliError {
  const shown = oneLine(text).slice(0, 60);
  return new CliError(
    exitCodes.refused,
    'JOB_NOT_FOUND',
    `No job has the id "${shown}", nor does one of the latest ${SEARCHED_JOBS_MAX} end in it.`,
    { fix: 'See what there is: signalbox jobs' },
  );
}
