import { type KeptFiles, removeKeptFiles } from '@signalbox/agent';
import { ApiError } from '@signalbox/sdk';
import { CliError } from '../../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../../command-module.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { HubSession } from '../../hub/hub-session.ts';
import { formatDuration, parseDurationMs } from '../../terminal/duration.ts';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/text.ts';
import { shortId } from '../../words/job-text.ts';
import { listWorkBranches } from '../../work/branches.ts';
import { type Clone, openClone, runGit } from '../../work/clone-git.ts';
import { activeStatuses, readWork, type Work } from '../../work/work-view.ts';
import { filesJson, formatSize, readAgentDisk, totalBytesOf } from './agent-disk.ts';

interface Options extends HubOptions {
  dryRun?: true;
  unmerged?: true;
  olderThan?: number;
  stateDir?: string;
}

/**
 * `signalbox work prune`: deletes merged branches of agents from the clone of the current
 * directory, and files that agents on this machine no longer need: worktrees, warm ones included,
 * and folders of set-ups. With `--json`: `{ok, dryRun, branches, worktrees, setups, totalBytes}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .option('--dry-run', 'only say what would be deleted')
      .option('--older-than <time>', 'only what has not changed for this time', parseDurationMs)
      .option('--unmerged', 'also what is not merged; needs --older-than')
      .option('--state-dir <dir>', 'the state directory of the agent, if it is not the default');
  },

  chooseHub: addHubOptions,
  examples: [
    ['signalbox work prune --dry-run', 'look first'],
    ['signalbox work prune --unmerged --older-than 30d', 'also what was never merged'],
  ],

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
    const files = await findFiles(io, session, clone, options);
    if (!options.dryRun) {
      for (const { branch } of branches) await deleteBranch(clone, branch);
      for (const each of files) await removeKeptFiles(each);
    }
    if (io.json) {
      const names = branches.map(({ branch: { name, commitSha } }) => ({
        branch: name,
        commitSha,
      }));
      const dryRun = options.dryRun ?? false;
      return io.printJson({ ok: true, dryRun, branches: names, ...filesJson(files) });
    }
    sayPruned(io, branches, files, options);
    const kept = works.filter((work) => !branches.includes(work) && !work.branch.isMerged).length;
    if (kept > 0) io.note(`${kept} branch${kept === 1 ? ' is' : 'es are'} kept: not merged.`);
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
 * Finds files that can go: worktrees of sessions whose jobs have ended, and with `--unmerged` those
 * with changes that could not be published. Without warm ones, the next jobs write all their files,
 * and without folders of set-ups they run the commands.
 */
async function findFiles(
  io: Io,
  session: HubSession | null,
  clone: Clone,
  options: Options,
): Promise<KeptFiles[]> {
  if (session === null) return [];
  const { files } = await readAgentDisk(io, session, clone, options.stateDir);
  const found: KeptFiles[] = [];
  for (const each of files) {
    const { kind, jobId } = each;
    if (kind === 'job') continue;
    if (Date.now() - each.changedAt.getTime() < (options.olderThan ?? 0)) continue;
    if (kind === 'kept' && !options.unmerged) continue;
    if (kind === 'session' && !(await hasEnded(session, jobId))) continue;
    found.push(each);
  }
  return found;
}

/** A failed job can be retried and then continues its session, so it has not ended. */
async function hasEnded(
  { client, workspaceId }: HubSession,
  jobId: string | null,
): Promise<boolean> {
  if (jobId === null) return false;
  try {
    const { job } = await client.jobs.get({ workspaceId, jobId });
    return job.status === 'done' || job.status === 'canceled';
  } catch (error) {
    if (error instanceof ApiError && error.code === 'JOB_NOT_FOUND') return false;
    throw error;
  }
}

function sayPruned(
  io: Io,
  branches: readonly Work[],
  files: readonly KeptFiles[],
  { dryRun }: Options,
): void {
  const { styles } = io;
  if (branches.length + files.length === 0) io.print('Nothing to delete.');
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
  for (const { kind, path, sizeBytes } of files) {
    const what = kind === 'warm' || kind === 'setup' ? `${names[kind]} ${path}` : path;
    io.print(`${mark} ${verb} ${what}, ${formatSize(sizeBytes)}`);
  }
  if (files.length === 0) return;
  const [worktrees, setups] = [false, true].map((isSetup) =>
    totalBytesOf(files.filter(({ kind }) => (kind === 'setup') === isSetup)),
  );
  const sizes = `${formatSize(worktrees ?? 0)} of worktrees and ${formatSize(setups ?? 0)} of set-up`;
  io.note(`${dryRun ? 'Would free' : 'Freed'} ${sizes}.`);
}

const names = { warm: 'warm worktree', setup: 'kept set-up' } as const;
