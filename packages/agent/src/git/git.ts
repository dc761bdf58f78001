import { cleanEnvironment } from '../process/environment.ts';
import { ProgramError, runProgram } from '../process/run-program.ts';
import { identityOf, type ToolUser } from '../process/tool-user.ts';

/** Git failed. `message` holds its error output without credentials. */
export class GitError extends Error {
  override name = 'GitError';
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null, cause: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

export interface GitOptions {
  cwd?: string;
  /**
   * The git directory of a repository without a work tree. Passed explicitly, because git may be
   * configured not to search for it.
   */
  gitDir?: string;
  /** Used without git's variables and the agent's settings. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Used as it is, instead of `env`. */
  exactEnv?: NodeJS.ProcessEnv;
  /**
   * Ignores the configuration of the person and the system: for what follows a tool, which may have
   * written it.
   */
  isAfterTool?: true;
  /** Default: the agent's own user. */
  user?: ToolUser | null;
  /** Standard input. */
  input?: string;
  signal?: AbortSignal | undefined;
  /** Default `OUTPUT_BYTES_MAX`. A call that prints more fails. */
  outputBytesMax?: number;
  /** Further exit codes of a call that has not failed. */
  exitCodes?: readonly number[];
  /** Of the output; `latin1` keeps its bytes. Default: UTF-8. */
  encoding?: 'latin1';
  /** Default `CALL_MS_MAX`. */
  limitMs?: number;
}

/** Limit of one call: enough for a large repository on a slow disk, and still an end. */
const CALL_MS_MAX = 10 * 60_000;
/** Listing the changed files of a large import takes megabytes, not more. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Limit of the error output that is quoted. */
const COMPLAINT_CHARS_MAX = 2_000;

/**
 * Settings of every call. Hooks are meant for the person's own commits and checkouts. Other
 * programs that git would run by configuration are turned off as well, but for those of the person
 * (filters, access to remotes).
 */
export const safeSettings = [
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'gc.autoDetach=false', '-c', 'core.fsmonitor=false'],
  ...['-c', 'submodule.recurse=false', '-c', 'commit.gpgSign=false', '-c', 'core.pager=cat'],
];

/** Repositories are passed explicitly, so their owner is not asked for (git-config(1)). */
const noPersonConfig = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
};

/**
 * Hides `user:password@` in URLs. The pattern begins with a fixed text, so that hostile output (a
 * long line of letters) is matched in linear time.
 */
export function hideUrlCredentials(text: string): string {
  return text.replace(/:\/\/[^\s/@]+@/g, '://[redacted]@');
}

/** The environment of a call of git. */
export function gitEnvironment({ env, exactEnv, isAfterTool }: GitOptions): NodeJS.ProcessEnv {
  return (
    exactEnv ?? {
      ...cleanEnvironment(env ?? process.env, undefined),
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
      ...(isAfterTool ? noPersonConfig : {}),
    }
  );
}

/** Runs git and returns its output. A call that takes too long is ended. */
export async function runGit(args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { cwd, gitDir, signal, input, encoding, user = null, limitMs = CALL_MS_MAX } = options;
  const { outputBytesMax = OUTPUT_BYTES_MAX, exitCodes = [] } = options;
  const place = gitDir === undefined ? [] : [`--git-dir=${gitDir}`];
  try {
    const { stdout } = await runProgram('git', [...place, ...safeSettings, ...args], {
      env: gitEnvironment(options),
      ...identityOf(user),
      cwd,
      signal,
      input,
      encoding,
      limitMs,
      outputBytesMax,
    });
    return stdout;
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    const { exitCode, stdout, stderr, message } = error;
    if (exitCode !== null && exitCodes.includes(exitCode)) return stdout;
    const said = stderr.trim().slice(-COMPLAINT_CHARS_MAX) || message;
    throw new GitError(`git ${args[0]}: ${hideUrlCredentials(said)}`, exitCode, error);
  }
}

/** Whether a commit is another one, or an ancestor of it. */
export async function isAncestor(git: GitOptions, sha: string, of: string): Promise<boolean> {
  return (await askGit(['merge-base', '--is-ancestor', sha, of], git)) !== null;
}

/** Whether a text from elsewhere is the id of a commit, and no option or name. */
export function isCommit(sha: unknown): sha is string {
  return typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha);
}

export async function hasCommit(git: GitOptions, sha: string): Promise<boolean> {
  return (await askGit(['cat-file', '-e', `${sha}^{commit}`], git)) !== null;
}

export function readCommit(git: GitOptions, name: string): Promise<string | null> {
  const wanted = `${name}^{commit}`;
  return askGit(['rev-parse', '--verify', '--quiet', '--end-of-options', wanted], git);
}

/** Like `runGit`, for queries: null when git exits with an error. */
export async function askGit(
  args: readonly string[],
  options: GitOptions = {},
): Promise<string | null> {
  try {
    return (await runGit(args, options)).trim();
  } catch (error) {
    if (error instanceof GitError && error.exitCode !== null) return null;
    throw error;
  }
}
