import { execFile } from 'node:child_process';

/** git ended with an error; `message` holds what it said, without credentials. */
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
  /** Of a repository without a work tree; given by name, for git may be told not to look for it. */
  gitDir?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
}

/** Listing the changed files of a large import takes megabytes, not more. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** What of git's complaint is quoted. */
const COMPLAINT_CHARS_MAX = 2_000;

/**
 * Variables of git that say how to reach a remote. All others (`GIT_DIR`, `GIT_INDEX_FILE`, …)
 * would point git at the repository of whoever started the agent, for instance from a git hook.
 */
const transportVariables = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|SSL_.*)$/;

/** The environment without the variables of git that point at a repository. */
export function withoutGitVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !name.startsWith('GIT_') || transportVariables.test(name),
    ),
  );
}

/**
 * Hides `user:password@` in addresses. The pattern begins with a fixed text, so that hostile output
 * (a long line of letters) costs no more than its length.
 */
export function hideUrlCredentials(text: string): string {
  return text.replace(/:\/\/[^\s/@]+@/g, '://[redacted]@');
}

/**
 * Runs git and returns what it printed. The agent's own calls run no hooks: those of the person
 * are for the person's commits and checkouts.
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

/** Like `runGit`, for questions: null when git says no. */
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
