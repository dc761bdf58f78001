import { copyFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { removeToolTree } from '../process/tool-file.ts';
import { giveToUser, showToUser, type ToolUser } from '../process/tool-user.ts';
import { askGit, runGit } from './git.ts';
import { findCloneRoot, type Mirror, withMirror } from './git-mirror.ts';

/**
 * The repository and checkout of one attempt. All of `path` belongs to the tool, its `.git` too: a
 * repository of its own that borrows the objects of the mirror. The agent runs no git that reads
 * its configuration.
 */
export interface Worktree {
  path: string;
  /**
   * A git directory of the agent, with nothing but trusted configuration. With it the agent reads
   * the tool's objects and files (`git-evidence.ts`).
   */
  evidenceDir: string;
  branch: string;
  /** The commit that the job started from. */
  baseSha: string;
  mirror: Mirror;
  /** The user that the tool runs as; null: the agent's own. */
  user: ToolUser | null;
}

/** The branch of an attempt, derived from its key. Each attempt has its own. */
export function branchOf(key: string): string {
  return `signalbox/${key}`;
}

/** Creates the repository of an attempt, on its branch, with the files of its first commit. */
export async function createWorktree(worktree: Worktree, signal?: AbortSignal): Promise<Worktree> {
  const { mirror, path, branch, baseSha, user } = worktree;
  const inMirror = { gitDir: mirror.gitDir, signal };
  // The mirror's branch keeps the objects that the attempt borrows.
  const refs = await withMirror(mirror, async () => {
    await runGit(['update-ref', `refs/heads/${branch}`, baseSha], inMirror);
    return await runGit(
      ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/remotes', 'refs/tags'],
      inMirror,
    );
  });
  const gitDir = join(path, '.git');
  await createRepository(worktree, [path], signal);
  await writeFile(join(gitDir, 'packed-refs'), refs);
  await copyIfThere(join(mirror.gitDir, 'shallow'), join(gitDir, 'shallow'));
  const settings = await readSettings(['--file', join(mirror.gitDir, 'config')], toolSettings);
  await writeSettings(
    join(gitDir, 'config'),
    user === null ? settings : withoutPasswords(settings),
  );
  await runGit([`--work-tree=${path}`, 'checkout', '--quiet', '--force', '-B', branch, baseSha], {
    ...{ gitDir, cwd: path, signal },
  });
  await createEvidenceDirectory(worktree, settings, signal);
  await giveToUser(path, user);
  return worktree;
}

/** Settings of the mirror that the tool's repository has too. */
const toolSettings = /^(user\.(name|email)|remote\.origin\.(url|fetch))$/;
/** Settings of the person's own configuration by which git reads and writes files. */
const personSettings =
  /^(filter\..+|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|filemode|symlinks|longpaths))$/;

type Settings = [name: string, value: string][];

/**
 * Creates the git directory by which the agent reads what the tool has left. Its settings are read
 * now, before the tool runs: what a tool writes into any configuration later has no effect.
 */
async function createEvidenceDirectory(
  worktree: Worktree,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { evidenceDir, mirror, user } = worktree;
  await createRepository(worktree, ['--bare', evidenceDir], signal);
  await copyIfThere(join(mirror.gitDir, 'shallow'), join(evidenceDir, 'shallow'));
  const ofPerson = [
    ...(await readSettings(['--system', '--includes'], personSettings)),
    ...(await readSettings(['--global', '--includes'], personSettings)),
  ];
  const own: Settings = [
    ...settings.filter(([name]) => name.startsWith('user.')),
    ['core.bare', 'false'],
    ['core.excludesFile', user === null ? await findExcludes() : '/dev/null'],
    ['core.attributesFile', '/dev/null'],
  ];
  await writeSettings(join(evidenceDir, 'config'), [...ofPerson, ...own]);
  await showToUser(evidenceDir, user);
}

/** Creates an empty repository in the form of the mirror's, without hooks or templates. */
async function createRepository(
  { mirror }: Worktree,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const format = await askGit(['rev-parse', '--show-object-format'], { gitDir: mirror.gitDir });
  const form = `--object-format=${format ?? 'sha1'}`;
  await runGit(['init', '--quiet', '--template=', form, ...args], { signal });
  const gitDir = args[0] === '--bare' ? (args[1] as string) : join(args[0] as string, '.git');
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), alternatesOf(objectsOf(mirror)));
}

export function objectsOf({ gitDir }: Mirror): string {
  return join(gitDir, 'objects');
}

/** The file by which a repository borrows objects (gitrepository-layout(5)). */
export function alternatesOf(...objects: readonly string[]): string {
  return objects.map((path) => `${path}\n`).join('');
}

/** A user of its own does not get the person's access to the origin either. */
function withoutPasswords(settings: Settings): Settings {
  return settings.map(([name, value]) => [name, value.replace(/:\/\/[^\s/@]+@/, '://')]);
}

async function readSettings(from: readonly string[], wanted: RegExp): Promise<Settings> {
  const text = (await askGit(['config', ...from, '--null', '--list'])) ?? '';
  return text.split('\0').flatMap((entry): Settings => {
    const lineEnd = entry.indexOf('\n');
    const name = lineEnd < 0 ? entry : entry.slice(0, lineEnd);
    // A name without a value means true.
    return wanted.test(name) ? [[name, lineEnd < 0 ? 'true' : entry.slice(lineEnd + 1)]] : [];
  });
}

async function writeSettings(file: string, settings: Settings): Promise<void> {
  for (const [name, value] of settings) {
    await runGit(['config', '--file', file, '--replace-all', name, value]);
  }
}

/** The person's list of files that are never committed (gitignore(5)). */
async function findExcludes(): Promise<string> {
  const chosen = await askGit(['config', '--global', '--path', 'core.excludesFile']);
  const home = process.env.XDG_CONFIG_HOME || join(homedir(), '.config');
  return chosen || join(home, 'git', 'ignore');
}

async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/**
 * Publishes a job's branch to the person's clone, so that its commits outlive the worktree. The
 * clone changes only that ref: its checkout, index, `FETCH_HEAD`, remotes and settings stay
 * unchanged. It asks for the commit by its id, since a process that the tool has left may move the
 * branch of the mirror.
 *
 * @param commitSha the commit of the branch, which the mirror has.
 */
export async function publishBranch(worktree: Worktree, commitSha: string): Promise<void> {
  const { mirror, branch } = worktree;
  const ref = `refs/heads/${branch}`;
  const git = { isAfterTool: true } as const;
  const root = await findCloneRoot(mirror.clonePath, git);
  await withMirror(mirror, () =>
    runGit(
      ['-C', root, 'fetch', '--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head']
        .concat('--no-recurse-submodules', '--no-auto-maintenance', '--update-shallow')
        .concat(mirror.gitDir, `+${commitSha}:${ref}`),
      git,
    ),
  );
}

/**
 * Whether the clone's branch of a worktree is where the job left it, and not checked out. Git
 * refuses to move a branch that is.
 *
 * @param known the commits at which the job began or left the branch.
 */
export async function isUntouched(worktree: Worktree, known: readonly string[]): Promise<boolean> {
  const ref = `refs/heads/${worktree.branch}`;
  const git = { isAfterTool: true, cwd: worktree.mirror.clonePath } as const;
  const listed = await runGit(['worktree', 'list', '--porcelain'], git);
  if (listed.split('\n').includes(`branch ${ref}`)) return false;
  const here = await askGit(['rev-parse', '--verify', '--quiet', ref], git);
  return here === null || known.includes(here);
}

/** Moves a worktree whose branch could not be published to a place where the person can find it. */
export async function keepWorktree(worktree: Worktree, target: string): Promise<void> {
  await rename(worktree.path, target);
}

/**
 * Removes the worktree and its branch in the mirror; the published branch stays in the clone. Also
 * cleans up after an interrupted attempt.
 */
export async function removeWorktree(mirror: Mirror, path: string, branch: string): Promise<void> {
  await removeToolTree(path);
  const git = { gitDir: mirror.gitDir };
  await withMirror(mirror, async () => {
    if ((await askGit(['rev-parse', '--git-dir'], git)) === null) return;
    await askGit(['update-ref', '-d', `refs/heads/${branch}`], git);
  });
}
