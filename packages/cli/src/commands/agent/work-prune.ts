import { existsSync } from 'node:fs';
import { type LeftWorktree, listLeftWorktrees, removeLeftWorktree } from '@signalbox/agent';
import { ApiError } from '@signalbox/sdk';
import { CliError } from '../../cli-error.ts';
import {
  addExamples,
  addHubOptions,
  addJsonOption,
  defineCommand,
  type HubOptions,
} from '../../command-module.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { HubSession } from '../../hub/hub-session.ts';
import { formatDuration, parseDurationMs } from '../../terminal/duration.ts';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/text.ts';
import { shortId } from '../../words/job-text.ts';
import { listWorkBranches } from '../../work/branches.ts';
import { type Clone, openClone, runGit } from '../../work/clone-git.ts';
import { activeStatuses, readWork, type Work } from '../../work/work-view.ts';
import { agentStateDir } from './choose-clones.ts';

interface Options extends HubOptions {
  dryRun?: true;
  unmerged?: true;
  olderThan?: number;
  stateDir?: string;
}

/**
 * `signalbox work prune`: deletes merged branches of agents from the clone of the current
 * directory, and worktrees that agents on this machine no longer need, warm ones included. With
 * `--json`: `{ok, dryRun, branches, worktrees}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .option('--dry-run', 'only say what would be deleted')
      .option('--older-than <time>', 'only what has not changed for this time', parseDurationMs)
      .option('--unmerged', 'also what is not merged; needs --older-than')
      .option('--state-dir <dir>', 'the state directory of the agent, if it is not the default');
    addJsonOption(program);
    addHubOptions(program);
    addExamples(program, [
      ['signalbox work prune --dry-run', 'look first'],
      ['signalbox work prune --unmerged --older-than 30d', 'also what was never merged'],
    ]);
  },

  async run({ io, options }) {
    if (options.unmerged && options.olderThan === undefined) {
      const message = '--unmerged deletes work that exists nowhere else, so it needs --older-than.';
      throw new CliError(exitCodes.usage, 'USAGE', message, {
        fix: 'signalbox work prune --unmerged --older-than 30d --dry-run',
      });
    }
    const clone = await openClone(io);
    const { works, session } = await readWork(io, options, await listWorkBranches(clone));
    const branches = works.filter((work) => isPrunable(work, options));
    const worktrees = await findWorktrees(io, session, options);
    if (!options.dryRun) {
      for (const { branch } of branches) await deleteBranch(clone, branch);
      for (const worktree of worktrees) await removeLeftWorktree(worktree);
    }
    if (io.json) {
      const names = branches.map(({ branch: { name, commitSha } }) => ({
        branch: name,
        commitSha,
      }));
      const paths = worktrees.map(({ kind, path, sizeBytes }) => ({ kind, path, sizeBytes }));
      const dryRun = options.dryRun ?? false;
      return io.printJson({ ok: true, dryRun, branches: names, worktrees: paths });
    }
    sayPruned(io, branches, worktrees, options);
    const kept = works.filter((work) => !branches.includes(work) && !work.branch.isMerged).length;
    if (kept > 0) io.note(`${kept} branch${kept === 1 ? ' is' : 'es are'} kept: not merged.`);
    return undefined;
  },
});

/** Without its job's state, a branch is judged by git alone. */
function isPrunable({ branch, job }: Work, { unmerged, olderThan = 0 }: Options): boolean {
  if (branch.isCheckedOut || (job !== null && activeStatuses.includes(job.status))) return false;
  if (Date.now() - Date.parse(branch.committedAt) < olderThan) return false;
  return branch.isMerged || unmerged === true;
}

/** Deletes a branch only if it still has the commit that was looked at. */
async function deleteBranch(clone: Clone, { name, commitSha }: Work['branch']): Promise<void> {
  await runGit(clone, ['update-ref', '-d', `refs/heads/${name}`, commitSha]);
}

/**
 * Finds worktrees that can go: those of sessions whose jobs have ended, and with `--unmerged` those
 * with changes that could not be published. Without warm ones, the next jobs write all their files.
 */
async function findWorktrees(
  io: Io,
  session: HubSession | null,
  options: Options,
): Promise<LeftWorktree[]> {
  const stateDir =
    options.stateDir ?? (session === null ? undefined : agentStateDir(io.env, session));
  if (session === null || stateDir === undefined || !existsSync(stateDir)) return [];
  const found: LeftWorktree[] = [];
  for (const worktree of await listLeftWorktrees(stateDir)) {
    if (Date.now() - worktree.changedAt.getTime() < (options.olderThan ?? 0)) continue;
    const { kind, jobId } = worktree;
    if (kind === 'kept' && !options.unmerged) continue;
    if (kind === 'session' && !(await hasEnded(io, session, jobId))) continue;
    found.push(worktree);
  }
  return found;
}

/** A failed job can be retried and then continues its session, so it has not ended. */
async function hasEnded(
  io: Io,
  { client, workspaceId }: HubSession,
  jobId: string | null,
): Promise<boolean> {
  if (jobId === null) return false;
  try {
    const { job } = await client.jobs.get({ workspaceId, jobId }, { signal: io.signal });
    return job.status === 'done' || job.status === 'canceled';
  } catch (error) {
    if (error instanceof ApiError && error.code === 'JOB_NOT_FOUND') return false;
    throw error;
  }
}

function sayPruned(
  io: Io,
  branches: readonly Work[],
  worktrees: readonly LeftWorktree[],
  { dryRun }: Options,
): void {
  const { styles } = io;
  if (branches.length + worktrees.length === 0) io.print('Nothing to delete.');
  const verb = dryRun ? 'would delete' : 'deleted';
  const mark = dryRun ? styles.dim('–') : styles.green('✔');
  for (const { branch, job } of branches) {
    const { name, commitSha, isMerged, committedAt } = branch;
    const age = formatDuration(Date.now() - Date.parse(committedAt));
    const state = isMerged ? 'merged' : styles.yellow('not merged');
    const title = job === null ? '' : ` ${styles.dim(oneLine(job.title))}`;
    io.print(
      `${mark} ${styles.bold(shortId(branch.jobId))}  ${verb} ${name}, ${state}, ${age}${title}`,
    );
    if (!dryRun && !isMerged) io.note(`  To get it back: git branch ${name} ${commitSha}`);
  }
  for (const { kind, path, sizeBytes } of worktrees) {
    const what = kind === 'warm' ? `warm worktree ${path}` : path;
    io.print(`${mark} ${verb} ${what}, ${formatSize(sizeBytes)}`);
  }
  if (worktrees.length === 0) return;
  const totalBytes = worktrees.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  io.note(`${dryRun ? 'Would free' : 'Freed'} ${formatSize(totalBytes)} of worktrees.`);
}

function formatSize(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}
