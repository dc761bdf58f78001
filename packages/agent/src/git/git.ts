import { execFile } from 'node:child_process';

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
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
}

/** Listing the changed files of a large import takes megabytes, not more. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Limit of the error output that is quoted. */
const COMPLAINT_CHARS_MAX = 2_000;

/**
 * Git variables that configure access to a remote. All others (`GIT_DIR`, `GIT_INDEX_FILE`, …)
 * would redirect git to the repository of the process that started the agent, such as a git hook.
 */
const transportVariables = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|SSL_.*)$/;

/** Returns the environment without the git variables that select a repository. */
export function withoutGitVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !name.startsWith('GIT_') || transportVariables.test(name),
    ),
  );
}

/**
 * Hides `user:password@` in URLs. The pattern begins with a fixed text, so that hostile output (a
 * long line of letters) is matched in linear time.
 */
export function hideUrlCredentials(text: string): string {
  return text.replace(/:\/\/[^\s/@]+@/g, '://[redacted]@');
}

/**
 * Runs git and returns its output. Hooks are disabled: they are meant for the person's own commits
 * and checkouts.
 */
export function runGit(args: readonly string[], options: GitOptions = {}): Promise<string> {
  const place = options.gitDir === undefined ? [] : [`--git-dir=${options.gitDir}`];
  const settings = ['-c', 'core.hooksPath=/dev/null', '-c', 'gc.autoDetach=false'];
  const env = {
    ...withoutGitVariables(options.env ?? process.env),
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      [...place, ...settings, ...args],
      {
        env,
        maxBuffer: OUTPUT_BYTES_MAX,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const said = hideUrlCredentials(stderr.trim().slice(-COMPLAINT_CHARS_MAX) || error.message);
        const exitCode = typeof error.code === 'number' ? error.code : null;
        reject(new GitError(`git ${args[0]}: ${said}`, exitCode, error));
      },
    );
  });
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
