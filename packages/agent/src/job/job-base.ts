import { type BuildsOn, isJobBase, type Job } from '@signalbox/contract';
import { type GitOptions, isAncestor, runGit } from '../git/git.ts';
import { commitEnvironment, type Mirror, type MirrorBase } from '../git/git-mirror.ts';
import { hasLanded, mergeTrees } from '../landing/base-branch.ts';
import { bringCommit, commitOf, type JobAnswer, readKept } from './job-commit.ts';
import { JobFailure, type JobWork } from './job-work.ts';
import { workIdOf } from './work-record.ts';

/** The commit of a job that another one builds on. */
type BasePart = NonNullable<BuildsOn['jobs']>[number];

/** Files in conflict that a person is told of. */
const FILES_NAMED_MAX = 20;

/**
 * Finds the commit that a job begins with: that of the jobs that it builds on, or else that of the
 * branch. Never another one: what is not here is a failure.
 *
 * @throws {JobFailure}
 */
export async function findJobBase(
  work: JobWork,
  mirror: Mirror,
  branch: MirrorBase,
): Promise<BuildsOn> {
  const parts: BasePart[] = [];
  for (const jobId of await listBases(work)) {
    const part = await findPart(work, mirror, branch, jobId);
    if (part !== null) parts.push(part);
  }
  const commitSha = await combine(work, mirror, branch, parts);
  return {
    commitSha,
    ...(branch.branch === null ? {} : { branch: branch.branch }),
    ...(parts.length === 0 ? {} : { jobs: parts }),
  };
}

/** The jobs that a job builds on. A round that begins again does so where its work has begun. */
async function listBases(work: JobWork): Promise<readonly string[]> {
  const { job } = work.claimed;
  const { base, dependsOn }: Pick<Job, 'base' | 'dependsOn'> = job.continuesJobId
    ? ((await readKept(work, workIdOf(job)))?.job ?? job)
    : job;
  if (base === undefined) return dependsOn;
  return isJobBase(base) ? [base] : [];
}

/** The commit of one job; null: there is nothing of it to build on. */
async function findPart(
  work: JobWork,
  mirror: Mirror,
  branch: MirrorBase,
  jobId: string,
): Promise<BasePart | null> {
  const { claimed, log, signal } = work;
  const named = await readKept(work, jobId);
  if (named === null) {
    throw unavailable(jobId, `Job ${jobId}, on which this one builds, is deleted at the hub.`);
  }
  if (named.job.repoId !== claimed.job.repoId) {
    await log.note(`signalbox: job ${jobId} is of another repository: nothing of it is here.`);
    return null;
  }
  const latest = await readLatest(work, named);
  const commitSha = commitOf(latest.job);
  if (commitSha === null) {
    await log.note(`signalbox: job ${jobId} has left no commit to build on.`);
    return null;
  }
  const isHere = await bringCommit(work, mirror, latest, commitSha);
  const git = { gitDir: mirror.gitDir, signal };
  if (await hasLanded(git, branch.sha, commitSha, latest.work?.landed?.commitSha)) {
    const where = branch.branch ?? 'the base';
    await log.note(`signalbox: ${where} has the work of job ${jobId} already.`);
    return null;
  }
  if (isHere) return { jobId: latest.job.jobId, commitSha };
  const name = latest.job.evidence?.branch;
  const what = typeof name === 'string' ? `branch ${name}` : 'branch';
  throw unavailable(
    latest.job.jobId,
    `The commit ${commitSha.slice(0, 12)} of job ${jobId}, on which this one builds, is neither in ` +
      `this clone nor at its origin. Push its ${what} from the machine that has it, or let the ` +
      'agent of that machine do this job.',
  );
}

/** The job itself, or the latest round that has continued it and is done with a commit. */
async function readLatest(work: JobWork, named: JobAnswer): Promise<JobAnswer> {
  const { job, rounds = [] } = named;
  const later = rounds.findLast(({ round, status }) => status === 'done' && round > job.round);
  const latest = later === undefined ? null : await readKept(work, later.jobId);
  return latest === null || commitOf(latest.job) === null ? named : latest;
}

/** @param jobId by which the hub finds the agent that has the commit. */
function unavailable(jobId: string, summary: string): JobFailure {
  return new JobFailure('environment', 'base_unavailable', summary, {
    recommendedDelayMs: 0,
    spendsAttempt: false,
    occurrencesMax: 3,
    details: { jobId },
  });
}

/** One commit with the work of all parts, merged in their order. */
async function combine(
  work: JobWork,
  mirror: Mirror,
  branch: MirrorBase,
  parts: readonly BasePart[],
): Promise<string> {
  const [first, ...others] = parts;
  if (first === undefined) return branch.sha;
  const git = { gitDir: mirror.gitDir, signal: work.signal };
  let sha = first.commitSha;
  for (const [at, part] of others.entries()) {
    if (await isAncestor(git, part.commitSha, sha)) continue;
    if (await isAncestor(git, sha, part.commitSha)) {
      sha = part.commitSha;
      continue;
    }
    const merged = await mergeTrees(git, sha, part.commitSha);
    if ('conflicts' in merged) {
      throw conflict(work, parts.slice(0, at + 1), part, merged.conflicts);
    }
    sha = await commitMerge(git, merged.tree, [sha, part.commitSha], part.jobId);
  }
  return sha;
}

/** The same commit in each attempt, on each machine: it has the time of the later parent. */
async function commitMerge(
  git: GitOptions,
  tree: string,
  parents: readonly string[],
  jobId: string,
): Promise<string> {
  const times = await runGit(['log', '--no-walk', '--format=%ct', ...parents], git);
  const latest = Math.max(...times.trim().split('\n').map(Number));
  const input = `Merge the work of ${jobId}\n\nSignalbox-Job: ${jobId}\n`;
  const args = ['commit-tree', tree, ...parents.flatMap((sha) => ['-p', sha])];
  const exactEnv = commitEnvironment(`@${latest} +0000`);
  return (await runGit(args, { ...git, exactEnv, input })).trim();
}

/** No tool has begun, so none could use an answer: the person reads what to do. */
function conflict(
  { claimed }: JobWork,
  before: readonly BasePart[],
  part: BasePart,
  files: readonly string[],
): JobFailure {
  const named = files.slice(0, FILES_NAMED_MAX).join(', ');
  const more = files.length > FILES_NAMED_MAX ? ` and ${files.length - FILES_NAMED_MAX} more` : '';
  const jobs = before.map(({ jobId }) => jobId).join(', ');
  const commits = before.map(({ commitSha }) => commitSha.slice(0, 12)).join(', ');
  const ask = `"Merge ${commits} and resolve the conflicts in ${named}${more}"`;
  return new JobFailure(
    'execution',
    'base_conflict',
    `This job builds on ${jobs} and ${part.jobId}, whose changes conflict in ${named}${more}. Let ` +
      `one have the other: signalbox job continue ${part.jobId} ${ask}. When that is done: ` +
      `signalbox job retry ${claimed.jobId}`,
  );
}

/** In one sentence, for the log. */
export function describeBase({ commitSha, branch, jobs = [] }: BuildsOn): string {
  const names = jobs.map(({ jobId }) => `job ${jobId}`);
  const what = names.length > 0 ? names.join(' and ') : (branch ?? 'HEAD of the clone');
  return `builds on ${what}, commit ${commitSha.slice(0, 12)}.`;
}
