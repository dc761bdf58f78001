import { askGit, GitError, type GitOptions, hasCommit, isAncestor, runGit } from '../git/git.ts';
import { subjectOf } from '../git/git-evidence.ts';
import { type Mirror, mirrorOf, withMirror } from '../git/git-mirror.ts';
import { branchOf, createWorktree, giveToClone } from '../git/git-worktree.ts';
import { fetchBranch } from '../git/work-branch.ts';
import { readKept } from '../job/job-commit.ts';
import { runHook } from '../job/job-hooks.ts';
import { isolateJob } from '../job/job-isolation.ts';
import { runPreCommandHook } from '../job/job-steps.ts';
import { JobFailure, JobStopped, type JobWork, warmWorktreesFor } from '../job/job-work.ts';
import { setUp } from '../setup/set-up.ts';
import { type ApprovedWork, failOfConflicts, type Landing } from './approved-work.ts';
import { hasLanded, mergeTrees, readBase, withSquashed } from './base-branch.ts';
import { judge, proveCommit } from './land-work.ts';
import type { LandingWay } from './landing-options.ts';
import { moveBase } from './move-base.ts';
import { openPullRequest } from './pull-request.ts';
import { LandingError, pushBranch } from './push-branch.ts';

/** A base that people move all the time is for them to land in. */
const TRIES_MAX = 3;

interface Target {
  base: string;
  /** The branch of the work as it is; null: it is gone. */
  head: string | null;
  found: Landing;
}

/** Lands a commit in the base, as the repository is configured. @returns what has happened. */
export async function landCommit(
  work: JobWork,
  approved: ApprovedWork,
  { base, head, found }: Target,
): Promise<string> {
  const { landing = {} } = work.repository;
  const mirror = mirrorOf(work.settings.state, work.repository);
  const git: GitOptions = { gitDir: mirror.gitDir, isAfterTool: true };
  const by = landing.by ?? 'merge';
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const place = await readPlaces(work, mirror, base);
    const there = await findLanded(git, place.startSha, approved);
    if (there !== null) {
      const said = `${base} has the work already`;
      if (place.isDiverged) return tellLanded(found, base, there, `${said}, at the origin`);
      return finish(work, found, { base, commitSha: there, said }, () =>
        moveTo(work, mirror, base, place.baseSha, place.startSha),
      );
    }
    if (place.isDiverged) {
      const why = `${base} of the clone and of its origin have different commits`;
      throw new JobFailure('environment', 'base_diverged', `${why}: pull, then land it again.`);
    }
    requireApprovedHead(approved, head);
    await requireLanded(work, git, approved, { base, startSha: place.startSha });
    const resultSha = await build(work, git, approved, {
      by,
      base,
      found,
      startSha: place.startSha,
    });
    await prove(work, mirror, approved, { found, resultSha, startSha: place.startSha });
    if (work.signal.aborted) throw new JobStopped();
    if (by === 'pull-request') return openRequest(work, approved, base, found);
    await offerToClone(mirror, work.claimed.key, resultSha);
    if (landing.pushBase === true) await pushBase(work, base, resultSha);
    const said = `Landed in ${base}`;
    const move = () => moveTo(work, mirror, base, place.baseSha, resultSha);
    if (landing.pushBase === true) {
      return finish(work, found, { base, commitSha: resultSha, said }, move);
    }
    if (await move()) return tellLanded(found, base, resultSha, said);
    await work.log.note(`signalbox: ${base} has moved meanwhile; the landing begins again.`);
  }
  const why = `${base} has moved ${TRIES_MAX} times while the work was checked`;
  throw new JobFailure('environment', 'base_moved', `${why}: land it again.`);
}

/** The origin has the work, or the clone has: what keeps the clone from following is a note. */
async function finish(
  work: JobWork,
  found: Landing,
  { base, commitSha, said }: { base: string; commitSha: string; said: string },
  move: () => Promise<boolean>,
): Promise<string> {
  let isMoved = false;
  try {
    isMoved = await move();
  } catch (error) {
    if (!(error instanceof JobFailure) && !(error instanceof GitError)) throw error;
    await work.log.note(`signalbox: ${error.message}`);
  }
  const where = isMoved ? said : `${said} of the origin; pull it into the clone`;
  return tellLanded(found, base, commitSha, where);
}

function tellLanded(found: Landing, into: string, commitSha: string, said: string): string {
  found.landing = { result: 'landed', into, commitSha };
  return `${said}, as ${commitSha.slice(0, 12)}.`;
}

/** Somebody may have committed after the approval. */
function requireApprovedHead({ branch, approval }: ApprovedWork, head: string | null): void {
  if (head === approval.commitSha) return;
  const isGone = head === null;
  const what = isGone ? 'was deleted' : `is at ${head.slice(0, 12)}`;
  const way = isGone ? 'Restore it' : 'Continue the work, or move it back';
  const commit = approval.commitSha.slice(0, 12);
  const why = `The branch ${branch} ${what}, and not at the approved commit ${commit}`;
  throw new JobFailure('execution', 'branch_moved', `${why}. ${way}, then land it again.`);
}

/** A work that builds on another one would land that as well, without an approval. */
async function requireLanded(
  work: JobWork,
  git: GitOptions,
  { builtOn, round }: ApprovedWork,
  { base, startSha }: { base: string; startSha: string },
): Promise<void> {
  for (const { jobId, commitSha } of builtOn) {
    if (await hasLanded(git, startSha, commitSha)) continue;
    const told = await readKept(work, jobId);
    if (await hasLanded(git, startSha, commitSha, told?.work?.landed?.commitSha)) continue;
    const way = `Land that first: signalbox work land ${told?.work?.jobId ?? jobId}`;
    const why = `The work builds on job ${jobId}, whose commit is not in ${base}. ${way}`;
    const then = `Then land this one again: signalbox work land ${round.jobId}`;
    throw new JobFailure('execution', 'base_not_landed', `${why}. ${then}`);
  }
}

/** Merges the approved commit into the tree of the base. Touches no file. */
async function mergeApproved(
  git: GitOptions,
  startSha: string,
  { approval, builtOn }: ApprovedWork,
): ReturnType<typeof mergeTrees> {
  const shas = builtOn.map(({ commitSha }) => commitSha);
  return await mergeTrees(git, await withSquashed(git, startSha, shas), approval.commitSha);
}

/**
 * Where the base is in the clone, and where the landing begins: at the base of the origin, if that
 * is pushed to and is ahead.
 */
async function readPlaces(
  work: JobWork,
  mirror: Mirror,
  base: string,
): Promise<{ baseSha: string; startSha: string; isDiverged: boolean }> {
  const baseSha = await readBase(mirror, base);
  if (baseSha === null) {
    const why = `The clone has no branch ${base}: create it, or set landing.into`;
    throw new JobFailure('environment', 'no_base', `${why}.`);
  }
  const { landing = {} } = work.repository;
  const here = { baseSha, startSha: baseSha, isDiverged: false };
  if (landing.pushBase !== true || landing.by === 'pull-request') return here;
  const git = { gitDir: mirror.gitDir, signal: work.signal };
  const pushed = await fetchBranch(mirror, git, base);
  if (pushed === null) return here;
  if (await isAncestor(git, pushed, baseSha)) return here;
  const isDiverged = !(await isAncestor(git, baseSha, pushed));
  return { baseSha, startSha: pushed, isDiverged };
}

/** The trailer of the commit that lands another one: its job, and the approved commit. */
function trailerOf({ approval }: ApprovedWork): string {
  return `Signalbox-Approved: ${approval.commitSha}`;
}

/** The commit by which the base has the work already, after an attempt that was killed. */
async function findLanded(
  git: GitOptions,
  startSha: string,
  approved: ApprovedWork,
): Promise<string | null> {
  const { commitSha } = approved.approval;
  if (!(await hasCommit(git, commitSha))) return null;
  if (await isAncestor(git, commitSha, startSha)) {
    // The first commit of the base, from the newest, that does not have it is behind this one.
    const merges = ['rev-list', '--first-parent', '--ancestry-path', `${commitSha}..${startSha}`];
    return (await runGit(merges, git)).trim().split('\n').at(-1) || startSha;
  }
  return await findSquashed(git, startSha, approved);
}

/** Commits that say that they land another one; a tool may write that into many of its own. */
const SAYING_MAX = 20;

/**
 * Finds the commit that has squashed the approved one. Any tool may have written its trailer, so it
 * counts only if it has the tree that a merge of the approved commit would have made.
 */
async function findSquashed(
  git: GitOptions,
  startSha: string,
  approved: ApprovedWork,
): Promise<string | null> {
  const { commitSha } = approved.approval;
  const search = ['log', `-${SAYING_MAX}`, '--format=%H %T %P', '--fixed-strings'];
  const range = `${commitSha}..${startSha}`;
  const found = await runGit([...search, `--grep=${trailerOf(approved)}`, range], git);
  for (const line of found.split('\n')) {
    const [sha = '', tree, parent, ...others] = line.split(' ');
    if (parent === undefined || parent === '' || others.length > 0) continue;
    const merged = await mergeApproved(git, parent, approved);
    if ('tree' in merged && merged.tree === tree) return sha;
  }
  return null;
}

/** Makes the commit that lands, in the repository of the agent. */
async function build(
  work: JobWork,
  git: GitOptions,
  approved: ApprovedWork,
  { by, base, found, startSha }: { by: LandingWay; base: string; found: Landing; startSha: string },
): Promise<string> {
  const { commitSha } = approved.approval;
  if (by !== 'squash' && (await isAncestor(git, startSha, commitSha))) return commitSha;
  const merged = await mergeApproved(git, startSha, approved);
  if ('conflicts' in merged) throw failOfConflicts(found, approved, base, merged.conflicts);
  if (by === 'pull-request') return commitSha;
  if (by === 'fast-forward') {
    const ask = `"Rebase onto ${base}"`;
    const way = `Continue it: signalbox job continue ${approved.round.jobId} ${ask}`;
    const why = `${base} has moved since the work began, and landing.by is fast-forward`;
    throw new JobFailure('execution', 'not_fast_forward', `${why}. ${way}`);
  }
  const parents = by === 'squash' ? [startSha] : [startSha, commitSha];
  const input = messageOf(work, approved, by);
  const args = ['commit-tree', merged.tree, ...parents.flatMap((sha) => ['-p', sha])];
  return (await runGit(args, { ...git, input })).trim();
}

function messageOf(work: JobWork, approved: ApprovedWork, by: LandingWay): string {
  const { approval, round, title } = approved;
  const subject = by === 'squash' ? title : `Merge: ${title}`;
  const name = (approval.by.name ?? approval.by.id).replaceAll(/\s+/g, ' ');
  const trailers = [
    `Signalbox-Job: ${round.jobId}`,
    `Signalbox-Landing: ${work.claimed.jobId}`,
    trailerOf(approved),
    `Approved-by: ${name}`,
  ];
  return `${work.redactor.redact(subjectOf(subject))}\n\n${trailers.join('\n')}\n`;
}

/** Runs the checks of the repository on the combined result. */
async function prove(
  work: JobWork,
  mirror: Mirror,
  approved: ApprovedWork,
  { found, resultSha, startSha }: { found: Landing; resultSha: string; startSha: string },
): Promise<void> {
  const { directory, settings, signal } = work;
  const branch = branchOf(work.claimed.key);
  if (resultSha === approved.approval.commitSha) {
    await work.log.note('signalbox: the result is the approved commit, whose checks have run.');
    await withMirror(mirror, () =>
      runGit(['update-ref', `refs/heads/${branch}`, resultSha], { gitDir: mirror.gitDir }),
    );
    return;
  }
  await runHook(work, 'environment', directory.path);
  await runHook(work, 'pre-checkout', directory.path);
  const { worktree: path, evidenceDir } = directory;
  const user = settings.toolUser;
  work.worktree = await createWorktree(
    { path, evidenceDir, branch, baseSha: resultSha, mirror, user },
    warmWorktreesFor(work),
    signal,
  );
  await isolateJob(work);
  await setUp(work, true);
  await runPreCommandHook(work);
  const range = { baseSha: startSha, commitSha: resultSha };
  const { checks, gaps } = await proveCommit(work, work.worktree, range, startSha);
  const shown = gaps.map((gap) => work.redactor.redact(gap).slice(0, 900));
  found.evidence = {
    verdict: judge(checks, gaps),
    ...(checks.length === 0 ? {} : { checks }),
    ...(gaps.length === 0 ? {} : { gaps: shown }),
  };
  if (gaps.length === 0 || signal.aborted) return;
  for (const gap of shown) await work.log.note(`signalbox: not proved: ${gap}`);
  if (approved.mayFailChecks) return;
  const why = `The work does not pass together with the base. ${shown.join(' ')}`;
  throw new JobFailure('execution', 'checks_failed', why);
}

/** Where the clone has the commit until the base is moved. */
function offerRef(key: string): string {
  return `refs/signalbox/landing/${key}`;
}

async function offerToClone(mirror: Mirror, key: string, sha: string): Promise<void> {
  await giveToClone(mirror, mirror.clonePath, `+${sha}:${offerRef(key)}`);
}

/** @returns false: somebody has moved the base. */
async function moveTo(
  work: JobWork,
  mirror: Mirror,
  base: string,
  oldSha: string,
  newSha: string,
): Promise<boolean> {
  if (oldSha === newSha) return true;
  const { key } = work.claimed;
  const clone = { cwd: mirror.clonePath, isAfterTool: true } as const;
  if ((await askGit(['cat-file', '-e', newSha], clone)) === null) {
    await withMirror(mirror, () =>
      runGit(['update-ref', `refs/heads/${branchOf(key)}`, newSha], { gitDir: mirror.gitDir }),
    );
    await offerToClone(mirror, key, newSha);
  }
  try {
    return await moveBase(mirror.clonePath, base, oldSha, newSha);
  } finally {
    await askGit(['update-ref', '-d', offerRef(key)], clone);
  }
}

/** The push decides between agents: it does not overwrite what another one has landed. */
async function pushBase(work: JobWork, base: string, commitSha: string): Promise<void> {
  try {
    await pushBranch(work, { branch: base, commitSha, changedFiles: [] });
  } catch (error) {
    if (!(error instanceof LandingError)) throw error;
    const way = `Nothing has landed: pull ${base}, then land the work again.`;
    throw new JobFailure('environment', 'push_failed', `${error.message} ${way}`);
  }
}

async function openRequest(
  work: JobWork,
  { approval, branch, round, title }: ApprovedWork,
  into: string,
  found: Landing,
): Promise<string> {
  const { pullRequestUrl } = round.evidence ?? {};
  const asRound = {
    ...work,
    branch,
    // The request is for the branch that the work lands in.
    repository: { ...work.repository, baseRef: into },
    claimed: { ...work.claimed, jobId: round.jobId, job: { ...work.claimed.job, prompt: title } },
  };
  const tell = (url: string) => {
    found.landing = { result: 'pull_request', into, pullRequestUrl: url };
    return `A pull request is open: ${url}`;
  };
  try {
    const { commitSha } = approval;
    const target = await pushBranch(asRound, { branch, commitSha, changedFiles: [] });
    if (typeof pullRequestUrl === 'string') return tell(pullRequestUrl);
    return tell(await openPullRequest(asRound, target, { checks: [], gaps: [] }));
  } catch (error) {
    if (!(error instanceof LandingError) && !(error instanceof GitError)) throw error;
    throw new JobFailure('environment', 'no_pull_request', error.message);
  }
}
