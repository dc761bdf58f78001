import { spawn } from 'node:child_process';

export interface ProgramOptions {
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  /** Standard input. */
  input?: string | undefined;
  /** Of input and output; `latin1` keeps their bytes. Default: UTF-8. */
  encoding?: 'latin1' | undefined;
  signal?: AbortSignal | undefined;
  limitMs: number;
  /** A program that prints more fails. Default: 1 MiB. */
  outputBytesMax?: number;
}

/** A program failed. */
export class ProgramError extends Error {
  override name = 'ProgramError';
  /** Null: it could not be started, or was ended. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;

  constructor(message: string, exitCode: number | null, output: Output, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
    this.stdout = output.stdout;
    this.stderr = output.stderr;
  }
}

interface Output {
  stdout: string;
  stderr: string;
}

const OUTPUT_BYTES_MAX = 1024 * 1024;

/**
 * Runs a program of the agent's own, such as git, to its end. It has a session of its own: Ctrl-C
 * in the agent's terminal asks the agent to finish, and would end a git command in its middle.
 * `execFile` of Node cannot do that.
 *
 * @throws {ProgramError} it ended with another exit code than 0, or took too long.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<Output> {
  const { input, encoding = 'utf8', limitMs, outputBytesMax = OUTPUT_BYTES_MAX } = options;
  const { cwd, env, uid, gid, signal } = options;
  const child = spawn(file, args, {
    cwd,
    env,
    detached: true,
    stdio: 'pipe',
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
  let fault: string | null = null;
  const end = (why: string) => {
    fault ??= why;
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const limit = setTimeout(() => end(`It took longer than ${describe(limitMs)}.`), limitMs);
  const onAbort = () => end('It was ended.');
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= outputBytesMax) parts[name].push(part);
      else end(`It printed more than ${outputBytesMax} bytes.`);
    });
  }
  // It may end before it has read everything; its exit code says why.
  child.stdin.on('error', () => {});
  child.stdin.end(input, encoding);
  const textOf = (name: keyof Output) => Buffer.concat(parts[name]).toString(encoding);
  const output = () => ({ stdout: textOf('stdout'), stderr: textOf('stderr') });
  try {
    const [code, by] = await new Promise<[number | null, NodeJS.Signals | null]>(
      (resolve, reject) => {
        child.once('error', reject);
        child.once('close', (...how) => resolve(how));
      },
    );
    if (code === 0 && fault === null) return output();
    const why = fault ?? (by === null ? `It ended with ${code}.` : `It was ended by ${by}.`);
    throw new ProgramError(why, fault === null ? code : null, output());
  } catch (error) {
    if (error instanceof ProgramError) throw error;
    throw new ProgramError((error as Error).message, null, output(), error);
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', onAbort);
  }
}

function describe(limitMs: number): string {
  return limitMs < 60_000 ? `${limitMs / 1_000} s` : `${Math.round(limitMs / 60_000)} minutes`;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
