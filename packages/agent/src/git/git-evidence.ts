import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ChangedFileCount, Evidence } from '@signalbox/contract';
import { identityOf, showToUser } from '../process/tool-user.ts';
import { askGit, GitError, type GitOptions, gitEnvironment, runGit, safeSettings } from './git.ts';
import { withMirror } from './git-mirror.ts';
import { objectsOf, type Worktree } from './git-worktree.ts';
import { changedNameOf, readDiff } from './shared-changes.ts';
import { openWorktreeFiles, type ToolRepository } from './tool-repository.ts';

/** Evidence of a job's changes, read from git only, never from the tool's own claims. */
export interface GitEvidence extends Evidence {
  changedFiles: string[];
  branch?: string;
  /** The commit that the job started from. */
  baseSha?: string;
  /** The commit that a round started from; `baseSha` is that of its work. */
  roundBaseSha?: string;
  /** Number of changed files left out of `changedFiles`. */
  changedFilesOmitted?: number;
  /** Changed files that contain a secret of the agent. They are committed all the same. */
  secretsIn?: string[];
  files?: ChangedFileCount[];
  /** The commit that a review has reviewed. */
  reviewedSha?: string;
}

/** Half of a request body. The rest is for the message and the reason. */
const CHANGED_FILES_BYTES_MAX = 100_000;
const CHANGED_FILES_MAX = 10_000;
const SUBJECT_CHARS_MAX = 72;
/** Limit for moving the commits of one job into the mirror. */
const IMPORT_MS_MAX = 10 * 60_000;

/** The changes that a tool has left: its last commit, and the files as they are. */
export interface ToolChanges {
  headSha: string;
  /** The tree of all files that git does not ignore. */
  treeSha: string;
  /** Whether the files differ from the last commit. */
  hasLeftovers: boolean;
}

/** Reads what the tool has left, committed or not. */
export async function readChanges({ headSha, git }: ToolRepository): Promise<ToolChanges> {
  const headTree = await askGit(['rev-parse', '--verify', `${headSha}^{tree}`], git);
  if (headTree === null) {
    throw new GitError(`The command left ${headSha}, which is no commit.`, null, undefined);
  }
  // Plumbing: unlike `git add` and `git status` it runs no git inside of nested repositories.
  await stage(git, ['--modified', '--deleted']);
  await stage(git, ['--others', '--exclude-standard']);
  const treeSha = (await runGit(['write-tree'], git)).trim();
  return { headSha, treeSha, hasLeftovers: treeSha !== headTree.trim() };
}

/** Files larger than this are no place where a tool puts a secret by accident. */
const ADDED_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Lists the changed files whose added lines match. Null when git cannot show the changes, for
 * instance because they are too large.
 */
export async function findInChanges(
  { worktree, git: reading }: ToolRepository,
  { treeSha }: ToolChanges,
  matches: (text: string) => boolean,
): Promise<string[] | null> {
  const git = { ...reading, outputBytesMax: ADDED_BYTES_MAX };
  const ends = [`${worktree.baseSha}^{tree}`, treeSha];
  const patch = await readDiff(['--unified=0', '--no-renames', ...ends], git);
  if (patch === null) return null;
  const found: string[] = [];
  for (const part of patch.split(/^diff --git /m)) {
    const name = changedNameOf(part);
    if (name === null) continue;
    const added = part.split('\n').filter((line) => line.startsWith('+'));
    if (matches(added.map((line) => line.slice(1)).join('\n'))) found.push(name);
  }
  return found;
}

async function stage(git: GitOptions, which: readonly string[]): Promise<void> {
  const listed = await runGit(['ls-files', '-z', ...which], git);
  // A nested repository, shown by a slash, has its own history, which no commit here can hold.
  const names = new Set(listed.split('\0').filter((name) => name !== '' && !name.endsWith('/')));
  if (names.size === 0) return;
  const input = [...names].map((name) => `${name}\0`).join('');
  await runGit(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], {
    ...git,
    input,
  });
}

/**
 * Commits what the tool has left uncommitted, under the identity of the agent's owner. Without
 * hooks and signing: both may prompt, and no person can answer.
 *
 * @returns the last commit.
 */
export async function commitLeftovers(
  { git }: ToolRepository,
  { headSha, treeSha, hasLeftovers }: ToolChanges,
  job: { jobId: string; prompt: string },
): Promise<string> {
  if (!hasLeftovers) return headSha;
  const input = `${subjectOf(job.prompt)}\n\nSignalbox-Job: ${job.jobId}\n`;
  return (await runGit(['commit-tree', treeSha, '-p', headSha], { ...git, input })).trim();
}

/**
 * Moves the tool's commits into the mirror, and returns the last one as the evidence of the job,
 * with the files changed since the job began. They cross as a pack whose objects are checked on
 * arrival, so the evidence is read from objects that the tool can no longer change. Without new
 * commits, `commitSha` is absent.
 *
 * @param workBaseSha where the work began, if this is not its first round: the evidence is of the
 *   work, and says where the round began.
 *
 * The tool may have left its branch (a detached head, its own branch); people look for the result
 * on the job's branch all the same.
 */
export async function importCommits(
  repository: ToolRepository,
  commitSha: string,
  workBaseSha = repository.worktree.baseSha,
): Promise<GitEvidence> {
  const { mirror, baseSha, branch, user } = repository.worktree;
  if (commitSha === baseSha) return { changedFiles: [] };
  return await withMirror(mirror, async () => {
    await sendPack(repository, `${commitSha}\n^${baseSha}\n`);
    // The tool's repository borrows them from here, as it does the others.
    await showToUser(objectsOf(mirror), user);
    const git = { gitDir: mirror.gitDir, isAfterTool: true } as const;
    const range = `${baseSha}..${commitSha}`;
    // Count commits after the base: a tool that only moved back in history has done nothing.
    if (Number(await runGit(['rev-list', '--count', range], git)) === 0)
      return { changedFiles: [] };
    await runGit(['update-ref', `refs/heads/${branch}`, commitSha], git);
    const listed = await listChangedFiles(git, workBaseSha, commitSha);
    const began = workBaseSha === baseSha ? {} : { roundBaseSha: baseSha };
    return { commitSha, branch, baseSha: workBaseSha, ...began, ...listed };
  });
}

/** Lists files of the worktree that differ from the commit, without those that git ignores. */
export async function listDifferences(worktree: Worktree, commitSha: string): Promise<string[]> {
  const git = await openWorktreeFiles(worktree);
  await runGit(['read-tree', commitSha], git);
  const changed = await runGit(['ls-files', '-z', '--modified', '--deleted'], git);
  const added = await runGit(['ls-files', '-z', '--others', '--exclude-standard'], git);
  const names = `${changed}${added}`.split('\0');
  return [...new Set(names.filter((name) => name !== '' && !name.endsWith('/')))];
}

async function listChangedFiles(
  git: GitOptions,
  baseSha: string,
  commitSha: string,
): Promise<Pick<GitEvidence, 'changedFiles' | 'changedFilesOmitted'>> {
  const listed = await runGit(
    ['diff-tree', '-r', '-z', '--name-only', '--no-renames', baseSha, commitSha],
    git,
  );
  const all = listed.split('\0').filter((name) => name !== '');
  const changedFiles = takeFitting(all);
  const omitted = all.length - changedFiles.length;
  return { changedFiles, ...(omitted > 0 ? { changedFilesOmitted: omitted } : {}) };
}

async function sendPack({ worktree, git }: ToolRepository, revisions: string): Promise<void> {
  const { cwd, exactEnv: env, user = null } = git;
  const limits = { timeout: IMPORT_MS_MAX, killSignal: 'SIGKILL' } as const;
  const sender = spawn('git', [...safeSettings, 'pack-objects', '--revs', '--stdout', '-q'], {
    cwd,
    env,
    ...limits,
    ...identityOf(user),
  });
  // Strict: refuses a pack with an object that names another one which neither the pack nor the
  // mirror has. So every object of the commits has arrived.
  const receiver = spawn(
    'git',
    [`--git-dir=${worktree.mirror.gitDir}`, ...safeSettings, 'index-pack', '--stdin', '--strict'],
    {
      env: gitEnvironment({ isAfterTool: true }),
      ...limits,
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  );
  const ends = [sender, receiver].map(async (child) => {
    const said = text(child.stderr);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, said: (await said).trim() };
  });
  // The exit codes say what went wrong, better than a broken pipe does.
  sender.stdin.on('error', () => {});
  sender.stdin.end(revisions);
  await pipeline(sender.stdout, receiver.stdin).catch(() => {});
  for (const { code, said } of await Promise.all(ends)) {
    if (code !== 0) throw new GitError(`The commits cannot be read: ${said}`, code, undefined);
  }
}

function takeFitting(names: readonly string[]): string[] {
  let bytes = 0;
  const fitting: string[] = [];
  for (const name of names.slice(0, CHANGED_FILES_MAX)) {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1;
    if (bytes > CHANGED_FILES_BYTES_MAX) break;
    fitting.push(name);
  }
  return fitting;
}

/** The first line of a prompt, as the subject of a commit. */
export function subjectOf(prompt: string): string {
  const line = prompt.split('\n').find((text) => text.trim() !== '') ?? '';
  const subject = line.trim().replaceAll('\0', '');
  if (subject === '') return 'Changes of a Signalbox job';
  if (subject.length <= SUBJECT_CHARS_MAX) return subject;
  return `${subject.slice(0, SUBJECT_CHARS_MAX - 1).toWellFormed()}…`;
}
