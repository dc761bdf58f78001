import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Where an agent keeps what must outlive its process. One agent a directory.
 *
 * ```
 * agent.lock      who uses the directory
 * machine-id      made once; the machine's fingerprint is derived from it
 * mirrors/        a bare mirror of each mapped clone
 * jobs/<key>/     one attempt: prompt.txt, log.ndjson, result.json, process.json, worktree/
 * kept/<key>/     a worktree whose work could not be handed over to the clone
 * outbox/         results that the hub has not answered yet
 * outbox/refused/ results that the hub has refused, kept for the person
 * ```
 */
export interface StateDirectory {
  readonly path: string;
  readonly lockFile: string;
  readonly machineIdFile: string;
  readonly mirrors: string;
  readonly jobs: string;
  readonly kept: string;
  readonly outbox: string;
  readonly refused: string;
}

export interface JobDirectory {
  readonly path: string;
  readonly promptFile: string;
  readonly logFile: string;
  readonly resultFile: string;
  readonly processFile: string;
  readonly environmentFile: string;
  readonly worktree: string;
}

/** Makes the directory and its parts, readable by nobody else: prompts and output are private. */
export async function openStateDirectory(path: string): Promise<StateDirectory> {
  const state: StateDirectory = {
    path,
    lockFile: join(path, 'agent.lock'),
    machineIdFile: join(path, 'machine-id'),
    mirrors: join(path, 'mirrors'),
    jobs: join(path, 'jobs'),
    kept: join(path, 'kept'),
    outbox: join(path, 'outbox'),
    refused: join(path, 'outbox', 'refused'),
  };
  for (const part of [path, state.mirrors, state.jobs, state.kept, state.refused]) {
    await mkdir(part, { recursive: true, mode: 0o700 });
  }
  return state;
}

export function jobDirectory(state: StateDirectory, key: string): JobDirectory {
  const path = join(state.jobs, key);
  return {
    path,
    promptFile: join(path, 'prompt.txt'),
    logFile: join(path, 'log.ndjson'),
    resultFile: join(path, 'result.json'),
    processFile: join(path, 'process.json'),
    environmentFile: join(path, 'environment'),
    worktree: join(path, 'worktree'),
  };
}

/**
 * The fingerprint by which the hub knows this machine: random, made once, kept in the state
 * directory. Nothing about the hardware or the person can be read from it.
 */
export async function readMachineFingerprint(stateDir: string): Promise<string> {
  const { machineIdFile } = await openStateDirectory(stateDir);
  try {
    await writeFile(machineIdFile, `${randomBytes(16).toString('hex')}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return (await readFile(machineIdFile, 'utf8')).trim();
}

/** Writes a file whole or not at all, and on the disk when this returns. */
export async function writeFileDurably(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, file);
  await syncDirectory(dirname(file));
}

/** A rename or removal is durable once its directory is. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The JSON in a file; null when there is no such file or it was never written to its end. */
export async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') {
      return null;
    }
    throw error;
  }
}
