import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { unlessMissing } from '../missing-file.ts';
import { removeToolTree } from '../process/tool-file.ts';
import { giveToUser, showToUser, type ToolUser } from '../process/tool-user.ts';
import { askGit, GitError, type GitOptions, gitEnvironment, runGit } from './git.ts';
import { findCloneRoot, type Mirror, type Settings, settingOf, withMirror } from './git-mirror.ts';
import { hasOtherAttributes, takeWarm, type WarmWorktrees } from './warm-worktrees.ts';

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

/**
 * Creates the repository of an attempt, on its branch, with the files of its first commit: those of
 * a warm worktree, if there is one, or new ones.
 */
export async function createWorktree(
  worktree: Worktree,
  warm: WarmWorktrees | null = null,
  signal?: AbortSignal,
): Promise<Worktree> {
  const { mirror, path, evidenceDir, branch, baseSha, user } = worktree;
  const inMirror = { gitDir: mirror.gitDir, signal };
  const ref = `refs/heads/${branch}`;
  // The mirror's branch keeps the objects that the attempt borrows.
  const refs = await withMirror(mirror, async () => {
    await runGit(['update-ref', ref, baseSha], inMirror);
    return await runGit(
      ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/remotes', 'refs/tags'],
      inMirror,
    );
  });
  const settings = await readKnownSettings(inMirror);
  const { form, ofMirror } = settings;
  const ofTool = user === null ? ofMirror : withoutPasswords(ofMirror);
  const gitDir = join(path, '.git');
  const own: Settings = [
    ['core.bare', 'false'],
    ['core.logAllRefUpdates', 'true'],
  ];
  const files = { path, gitDir: evidenceDir };
  const index = join(evidenceDir, 'index');
  async function fill(): Promise<void> {
    await createRepository(worktree, gitDir, [...form, ...own, ...ofTool]);
    await writeFile(join(gitDir, 'packed-refs'), `${refs}${baseSha} ${ref}\n`);
    await writeFile(join(gitDir, 'HEAD'), `ref: ${ref}\n`);
    const write = ['read-tree', '--reset', '-u', baseSha];
    await runGit([`--work-tree=${path}`, ...everyChange, ...write], {
      gitDir,
      cwd: path,
      signal,
      exactEnv: { ...gitEnvironment({}), GIT_INDEX_FILE: index },
    });
  }
  async function fillWarm(): Promise<boolean> {
    if (warm === null || !(await takeWarm(warm, files))) return false;
    if (await hasOtherAttributes(files, baseSha)) return false;
    try {
      await fill();
      return true;
    } catch (error) {
      // New files show whether it was because of the old ones.
      if (error instanceof GitError) return false;
      throw error;
    }
  }
  for (const before of [path, evidenceDir]) if (existsSync(before)) await removeToolTree(before);
  await createEvidenceDirectory(worktree, settings);
  if (!(await fillWarm())) {
    await removeToolTree(path);
    await rm(index, { force: true });
    await fill();
  }
  const toolIndex = join(gitDir, 'index');
  await copyFile(index, toolIndex);
  const { atime, mtimeMs } = await stat(index);
  // Git looks again at files that are not older than its index, so the copy may not be newer.
  await utimes(toolIndex, atime, Math.floor(mtimeMs / 1_000));
  await giveToUser(path, user);
  return worktree;
}

/** The person's configuration may not hide that a file was changed, nor divide the index. */
const everyChange = [
  ...['-c', 'core.trustctime=true', '-c', 'core.checkStat=default', '-c', 'core.ignoreStat=false'],
  ...['-c', 'core.splitIndex=false', '-c', 'core.sparseCheckout=false'],
];

/** How a repository is stored; git looks at the file system once, when it makes the mirror. */
const formSettings =
  /^(core\.(repositoryformatversion|filemode|ignorecase|precomposeunicode|symlinks)|extensions\.objectformat)$/;
/** Settings of the mirror that the tool's repository has too. */
const toolSettings = /^(user\.(name|email)|remote\.origin\.(url|fetch))$/;
/** Settings of the person's own configuration by which git reads and writes files. */
const personSettings =
  /^(filter\..+|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|filemode|symlinks|longpaths))$/;

interface KnownSettings {
  form: Settings;
  ofMirror: Settings;
  ofPerson: Settings;
  /** The person's list of files that are never committed (gitignore(5)). */
  excludesFile: string;
}

/** Reads the settings before the tool runs: what it writes into any of them has no effect. */
async function readKnownSettings(inMirror: GitOptions): Promise<KnownSettings> {
  const text = await runGit(['config', '--null', '--list', '--show-scope', '--includes'], inMirror);
  const parts = text.split('\0');
  const of = (scopes: readonly string[], wanted: RegExp) =>
    parts.flatMap((scope, at): Settings => {
      if (at % 2 === 1 || !scopes.includes(scope)) return [];
      const setting = settingOf(parts[at + 1] ?? '');
      return wanted.test(setting[0]) ? [setting] : [];
    });
  const person = ['system', 'global'];
  const excludes = of(person, /^core\.excludesfile$/).at(-1)?.[1];
  const home = process.env.XDG_CONFIG_HOME || join(homedir(), '.config');
  return {
    form: of(['local'], formSettings),
    ofMirror: of(['local'], toolSettings),
    ofPerson: of(person, personSettings),
    excludesFile: excludes || join(home, 'git', 'ignore'),
  };
}

/** Creates the git directory by which the agent reads what the tool has left. */
async function createEvidenceDirectory(
  worktree: Worktree,
  { form, ofMirror, ofPerson, excludesFile }: KnownSettings,
): Promise<void> {
  const { evidenceDir, user } = worktree;
  await createRepository(worktree, evidenceDir, [
    ...form,
    ...ofPerson,
    ...ofMirror.filter(([name]) => name.startsWith('user.')),
    ['core.bare', 'false'],
    ['core.excludesFile', user === null ? excludesFile : '/dev/null'],
    ['core.attributesFile', '/dev/null'],
  ]);
  await showToUser(evidenceDir, user);
}

/** Creates an empty repository, without hooks or templates (gitrepository-layout(5)). */
async function createRepository(
  { mirror }: Worktree,
  gitDir: string,
  settings: Settings,
): Promise<void> {
  for (const folder of ['objects/info', 'refs/heads']) {
    await mkdir(join(gitDir, folder), { recursive: true });
  }
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(gitDir, 'config'), settings.map(configEntry).join(''));
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), alternatesOf(objectsOf(mirror)));
  await unlessMissing(copyFile(join(mirror.gitDir, 'shallow'), join(gitDir, 'shallow')));
}

/** Writes a setting in the syntax of git-config(1). */
function configEntry([name, value]: Settings[number]): string {
  const quote = (text: string) => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
  const [section = '', ...rest] = name.split('.');
  const key = rest.pop() ?? '';
  const subsection = rest.length === 0 ? '' : ` ${quote(rest.join('.'))}`;
  return `[${section}${subsection}]\n\t${key} = ${quote(value)}\n`;
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
  const root = await findCloneRoot(mirror.clonePath, { isAfterTool: true });
  await withMirror(mirror, () => giveToClone(mirror, root, `+${commitSha}:${ref}`));
}

/** Brings a commit of the mirror into the clone, under one ref. */
export async function giveToClone(mirror: Mirror, root: string, refspec: string): Promise<void> {
  await runGit(
    ['-C', root, 'fetch', '--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head']
      .concat('--no-recurse-submodules', '--no-auto-maintenance', '--update-shallow')
      .concat(mirror.gitDir, refspec),
    { isAfterTool: true },
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
  if (!existsSync(git.gitDir)) return;
  await withMirror(mirror, async () => {
    await askGit(['update-ref', '-d', `refs/heads/${branch}`], git);
  });
}
