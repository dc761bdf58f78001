import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type Clock, untilAborted } from '../clock.ts';
import type { Wrap } from '../isolation/bubblewrap.ts';
import { type ProcessTree, stopTree } from './process-tree.ts';
import { identityOf, type ToolUser } from './tool-user.ts';

export interface ProcessOptions {
  file: string;
  args: readonly string[];
  /** Keeps the process from what is on the machine; null: nothing does. */
  wrap: Wrap | null;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The user that the process runs as; null: the agent's own. */
  user: ToolUser | null;
  /** Value of the mark variable in `env`. */
  mark: string;
  /** The job's worktree. What is left behind in there belongs to the job. */
  directory: string;
  /** The whole input, or a function that gets the open input. */
  stdin: string | ((stdin: Writable) => void);
  /**
   * Awaited before more is read: a slow consumer slows the process down instead of filling memory.
   */
  onOutput(stream: 'stdout' | 'stderr', text: string): Promise<void>;
  /** Called once after the start, with the pid, which is also the ID of its group and session. */
  onStart?(pid: number): Promise<void>;
  /** Ends the process and all its descendants. */
  signal: AbortSignal;
  /** Time between SIGTERM and SIGKILL, read when the signal has fired. */
  killGraceMs(): number;
  clock: Clock;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The process could not be started. */
export class ProcessStartError extends Error {
  override name = 'ProcessStartError';
}

/** After a command ended by itself: how long its leftover processes may take to end. */
const LEFTOVER_GRACE_MS = 1_000;
/** How long output may still arrive after every process has ended. */
const OUTPUT_DRAIN_MS = 2_000;

/**
 * Runs a process to its end, as the leader of its own session. Background processes that it leaves
 * behind are ended too: a job ends with its command, and an orphan would keep the worktree in use
 * and the output open.
 */
export async function runProcess(options: ProcessOptions): Promise<ProcessExit> {
  const { clock, signal } = options;
  const { file, args } = options.wrap === null ? options : options.wrap(options);
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    ...identityOf(options.user),
    detached: true,
    stdio: 'pipe',
  });
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, exitSignal) => resolve({ code, signal: exitSignal }));
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new ProcessStartError((error as Error).message, { cause: error });
  }
  const { mark, directory } = options;
  const tree: ProcessTree = { sessionId: child.pid ?? null, mark, directories: [directory] };
  // A command that does not read its input may close it.
  child.stdin.on('error', () => {});
  if (typeof options.stdin === 'string') child.stdin.end(options.stdin);
  else options.stdin(child.stdin);
  const output = Promise.all([
    pump(child.stdout, (text) => options.onOutput('stdout', text)),
    pump(child.stderr, (text) => options.onOutput('stderr', text)),
    child.pid === undefined ? undefined : options.onStart?.(child.pid),
  ]);

  // If output cannot be stored (disk full), end the command: it must not run unrecorded.
  const broken = new Promise<void>((resolve) => {
    output.catch(() => resolve());
  });
  await Promise.race([exited, untilAborted(signal), broken]);
  await stopTree(tree, signal.aborted ? options.killGraceMs() : LEFTOVER_GRACE_MS, clock);
  const exit = await exited;
  const drained = new AbortController();
  await Promise.race([output, clock.sleep(OUTPUT_DRAIN_MS, drained.signal)]);
  drained.abort();
  child.stdout.destroy();
  child.stderr.destroy();
  await output;
  return exit;
}

async function pump(source: Readable, take: (text: string) => Promise<void>): Promise<void> {
  const decoder = new StringDecoder('utf8');
  try {
    for await (const bytes of source) await take(decoder.write(bytes));
  } catch (error) {
    // The stream was destroyed above, because a process outside the tree still holds its other end.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
  await take(decoder.end());
}
