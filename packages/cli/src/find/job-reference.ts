import type { HubSession } from '../hub/hub-session.ts';
import { collectPages } from '../terminal/pages.ts';
import { findIdByEnding, type IdKind } from './id-reference.ts';

const jobId: IdKind = {
  prefix: 'job',
  name: 'job',
  code: 'JOB',
  fix: 'List jobs: signalbox jobs',
  fixAmbiguous: (id) => `Give more of the ID, such as: signalbox job ${id}`,
};

/**
 * Resolves a job reference to an ID: a full ID, or the end of one as printed by `signalbox jobs`,
 * if it matches exactly one of the latest 1,000 jobs.
 * @throws {CliError} JOB_NOT_FOUND, JOB_AMBIGUOUS.
 */
export async function findJobId(
  { client, workspaceId }: HubSession,
  text: string,
): Promise<string> {
  return await findIdByEnding(jobId, text, async (idsMax) => {
    const { rows } = await collectPages(idsMax, 'jobs', (page) =>
      client.jobs.list({ workspaceId, view: 'summary', ...page }),
    );
    return rows.map((job) => job.jobId);
  });
}

/** Resolves several job references. Two references to one job count once. */
export async function findJobIds(
  session: HubSession,
  references: readonly (string | undefined)[],
): Promise<string[]> {
  const ids = new Set<string>();
  for (const text of references) ids.add(await findJobId(session, text ?? ''));
  return [...ids];
}
