// The processes of a demo, with settings of their own, so that a person's stay untouched.
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanEnvironment, type StartedProcess, startProcess } from '../process/start-process.ts';

export interface RunningHub {
  url: string;
  process: StartedProcess;
}

interface RunOptions {
  input?: string;
  /** Receives each line of the output. */
  onLine?: (line: string) => void;
}

export interface Processes {
  /** @param port default: any free one. */
  startHub(port?: number): Promise<RunningHub>;
  /** Starts a call of `signalbox`. @throws when the demo is to end. */
  start(args: readonly string[], options?: RunOptions): StartedProcess;
  /** Runs a command. @throws if it fails. */
  run(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Ends the processes that still run, in order, and returns when they are gone. */
  endAll(): Promise<void>;
}

/** @param signal ends all processes, so that each step that waits for one fails. */
export function createProcesses(root: string, directory: string, signal: AbortSignal): Processes {
  const running: StartedProcess[] = [];
  const own = ['config', 'state'].map((name) => join(directory, name));
  const [SIGNALBOX_CONFIG_DIR, SIGNALBOX_STATE_DIR] = own;
  const env = { ...cleanEnvironment(), SIGNALBOX_CONFIG_DIR, SIGNALBOX_STATE_DIR };

  function start(args: readonly string[], { input, onLine }: RunOptions = {}): StartedProcess {
    signal.throwIfAborted();
    const main = join(root, 'packages/cli/src/main.ts');
    // In a group of its own: Ctrl-C is for the demo, which then ends its processes in order.
    const options = { cwd: directory, env, detached: true, input };
    const started = startProcess(process.execPath, [main, ...args], options);
    running.push(started);
    started.ended.finally(() => running.splice(running.indexOf(started), 1)).catch(() => {});
    const { stdout } = started.child;
    if (onLine && stdout) createInterface({ input: stdout }).on('line', onLine);
    return started;
  }

  let ending: Promise<void> | undefined;
  // A second signal would end an agent or a hub in its middle.
  const endAll = () => (ending ??= endRunning());
  signal.addEventListener('abort', () => void endAll());

  async function endRunning(): Promise<void> {
    // The latest first: the agent gives its job back while the hub still answers.
    for (const started of running.toReversed()) {
      // For an agent: give the job back now. For every other command an ordinary end.
      await started.stop(started.child.spawnargs.includes('agent') ? 'SIGQUIT' : 'SIGTERM');
    }
  }

  return {
    start,
    endAll,
    async startHub(port = 0) {
      const line = ['serve', '--port', String(port), '--data-dir', dataDirOf(directory)];
      const hub = start(line);
      const [, url = ''] = await hub.waitFor(/listens on (http:\/\/\S+)\s/);
      return { url, process: hub };
    },
    async run(args, options) {
      const started = start(args, options);
      const { code } = await started.ended;
      signal.throwIfAborted();
      if (code === 0) return started.stdout;
      const words = args.slice(0, 2).join(' ');
      throw new Error(`signalbox ${words} exited with code ${code}.\n${started.stderr.trim()}`);
    },
  };
}

/** The data directory of the hub of a demo. */
export function dataDirOf(directory: string): string {
  return join(directory, 'hub');
}
