import { CONFLICTS_NAMED_MAX, type Evidence } from '@signalbox/contract';
import { GitError } from '../git/git.ts';
import type { GitEvidence } from '../git/git-evidence.ts';
import type { JobWork } from '../job/job-work.ts';
import { chooseBase, hasLanded, mergeTrees, readBase, withSquashed } from './base-branch.ts';

/**
 * Finds the files in which the result of a round conflicts with the base as it is now, before
 * anybody approves it. A base that cannot be read is left for the landing to report.
 */
export async function findConflicts(
  work: JobWork,
  { commitSha, baseSha: beganSha }: GitEvidence,
): Promise<Pick<Evidence, 'conflicts'>> {
  const { worktree, repository } = work;
  if (worktree === undefined || commitSha === undefined) return {};
  try {
    const base = await chooseBase(repository);
    const baseSha = base && (await readBase(worktree.mirror, base.name, beganSha));
    if (base === null || baseSha === null) return {};
    const git = { gitDir: worktree.mirror.gitDir, isAfterTool: true } as const;
    const landed: string[] = [];
    for (const part of work.buildsOn?.jobs ?? []) {
      if (await hasLanded(git, baseSha, part.commitSha)) landed.push(part.commitSha);
    }
    const merged = await mergeTrees(git, await withSquashed(git, baseSha, landed), commitSha);
    if (!('conflicts' in merged)) return {};
    const files = merged.conflicts.slice(0, CONFLICTS_NAMED_MAX);
    await work.log.note(`signalbox: conflicts with ${base.name} in ${files.join(', ')}.`);
    return { conflicts: { into: base.name, files } };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return {};
  }
}
