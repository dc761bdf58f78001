import { join } from 'node:path';
import { after } from 'node:test';
import {
  cleanEnvironment,
  endProcesses,
  type ProcessEnd,
  type StartedProcess,
  startProcess,
} from '../scripts/process/start-process.ts';

export const projectRoot = join(import.meta.dirname, '..');

/** Several files use this process, one after the other; their place ends what they leave. */
export const isPlaceOfFiles = process.env.SIGNALBOX_TEST_PLACE !== undefined;

// A scenario that fails half-way must neither wait for its processes nor leave them to the next.
if (!isPlaceOfFiles) after(() => endProcesses());

export interface NodeOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Default: this Node. */
  node?: string;
}

/** Starts a script, on this Node or another. It never outlives the scenario. */
export function startNode(args: readonly string[], options: NodeOptions = {}): StartedProcess {
  return startProcess(options.node ?? process.execPath, args, {
    cwd: options.cwd ?? projectRoot,
    env: { ...cleanEnvironment(), ...options.env },
  });
}

/** Runs a script to its end. */
export async function runNode(
  args: readonly string[],
  options: NodeOptions = {},
): Promise<ProcessEnd & { stdout: string; stderr: string }> {
  const started = startNode(args, options);
  const end = await started.ended;
  return { ...end, stdout: started.stdout, stderr: started.stderr };
}
