import type { Job } from '@signalbox/contract';
import { ApiError, UnreachableError } from '@signalbox/sdk';
import { CliError } from '../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { openHubSession } from '../hub/hub-session.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine, truncateText } from '../terminal/text.ts';
import { shortId } from '../words/job-text.ts';
import { readEvidence } from '../words/landing-text.ts';
import { askGit, type Clone, callGit, gitFailed, runGit } from '../work/clone-git.ts';
import { addWorkArgument, openWork, requireCleanTree } from '../work/work-command.ts';
import type { Work } from '../work/work-view.ts';

const SUBJECT_WIDTH = 72;
const FILES_SHOWN = 5;

/**
 * `signalbox work merge JOB`: merges the branch of a job into the current one. With `--json`: `{ok,
 * branch, into, commitSha, result}`; `result` is `merged`, `fast_forwarded` or `already_merged`.
 */
export const command = defineCommand<HubOptions & { force?: true }>({
  describe(program) {
    program.option('--force', 'also if its checks have gaps, or its verdict is unknown');
    addWorkArgument(program);
  },

  chooseHub: addHubOptions,
  examples: [['signalbox work merge 8f3a1c2d', 'into the current branch']],

  async run({ io, args, options }) {
    const { clone, work } = await openWork(io, args[0], options);
    const into = await askGit(clone, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
    if (into === null) {
      const message = 'This clone has no branch checked out.';
      const fix = 'Switch to the branch that should have the work, such as: git switch main';
      throw new CliError(exitCodes.failed, 'NO_BRANCH', message, { fix });
    }
    if (into === work.branch.name) {
      const message = `${into} is the branch of the job itself.`;
      const fix = 'Switch to the branch that should have the work: git switch -';
      throw new CliError(exitCodes.failed, 'NO_BRANCH', message, { fix });
    }
    await requireCleanTree(clone);
    if (!options.force) requireProof(work);
    const result = await merge(clone, work);
    const commitSha = (await runGit(clone, ['rev-parse', 'HEAD'])).trim();
    const { name: branch, jobId } = work.branch;
    const reported = await tellHub(io, options, work, { into, commitSha });
    if (io.json) return io.printJson({ ok: true, branch, into, commitSha, result });
    const text = result === 'already_merged' ? `${into} has it already` : `merged into ${into}`;
    io.print(`${io.styles.green('✔')} ${io.styles.bold(shortId(jobId))}  ${text}`);
    if (reported !== null) io.note(`  ${reported}`);
    if (work.verdict === 'unverified') io.note('  It was not verified: its agent ran no checks.');
    io.note(`  ${asTyped('Delete merged branches: signalbox work prune')}`);
  },
});

/**
 * Tells the hub that the work has landed, so that it leaves the lists. It is merged in any case.
 *
 * @returns why the hub does not know it; null if it does.
 */
async function tellHub(
  io: Io,
  options: HubOptions,
  { job }: Work,
  landed: { into: string; commitSha: string },
): Promise<string | null> {
  if (job === null) return null;
  try {
    const { client, workspaceId } = await openHubSession(io, options);
    await client.works.close({ workspaceId, jobId: job.jobId, landed });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof UnreachableError)) throw error;
    return `The hub does not count it as landed: ${oneLine(error.message)}`;
  }
}

/** @throws {CliError} WORK_UNPROVED. */
function requireProof({ branch, job, verdict }: Work): void {
  if (verdict === 'verified' || verdict === 'unverified') return;
  const fix = `See: signalbox work show ${shortId(branch.jobId)}. To merge it as it is: add --force`;
  throw new CliError(exitCodes.failed, 'WORK_UNPROVED', reasonOf(branch.commitSha, job, verdict), {
    fix,
  });
}

function reasonOf(commitSha: string, job: Job | null, verdict: Work['verdict']): string {
  if (job === null) return 'The hub does not say how this work was checked.';
  if (verdict === 'gaps') {
    const [first = 'Its checks have gaps.'] = readEvidence(job.evidence).gaps;
    return `This work has gaps: ${oneLine(first)}`;
  }
  if (job.status !== 'done') return `This job is ${job.status}, so its work was never checked.`;
  const isMoved = job.evidence?.commitSha !== commitSha;
  if (isMoved) return 'The branch does not have the commit that the job ended with.';
  return 'The agent of this job did not say how the work was checked.';
}

async function merge(clone: Clone, { branch, job }: Work) {
  const before = (await runGit(clone, ['rev-parse', 'HEAD'])).trim();
  const isAncestor = ['merge-base', '--is-ancestor', branch.commitSha, before];
  if ((await askGit(clone, isAncestor)) !== null) return 'already_merged';
  const args = ['merge', '--no-edit', '--quiet', '-m', messageOf(branch.jobId, job), branch.name];
  const { exitCode, stdout, stderr } = await callGit(clone, args);
  if (exitCode !== 0) throw await explainMerge(clone, args, stderr.trim() || stdout);
  const after = (await runGit(clone, ['rev-parse', 'HEAD'])).trim();
  return after === branch.commitSha ? 'fast_forwarded' : 'merged';
}

function messageOf(jobId: string, job: Job | null): string {
  const title = truncateText(oneLine(job?.title ?? `job ${shortId(jobId)}`), SUBJECT_WIDTH - 7);
  return `Merge: ${title}\n\nSignalbox-Job: ${jobId}`;
}

/** Conflicts stay in the tree, as git leaves them. */
async function explainMerge(
  clone: Clone,
  args: readonly string[],
  said: string,
): Promise<CliError> {
  const listed = await runGit(clone, ['diff', '--name-only', '--diff-filter=U', '-z']);
  const names = listed.split('\0').filter((name) => name !== '');
  if (names.length === 0) return gitFailed(args, said);
  const more = names.length > FILES_SHOWN ? ', …' : '';
  const shown = names.slice(0, FILES_SHOWN).join(', ');
  const message = `The merge has conflicts in ${shown}${more}.`;
  return new CliError(exitCodes.failed, 'MERGE_CONFLICTS', message, {
    fix: 'Resolve them, git add them, and git commit. Or go back with: git merge --abort',
  });
}
