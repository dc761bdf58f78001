import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { findProcess } from './process/process-list.ts';

/** Another agent uses the state directory. */
export class AgentAlreadyRunningError extends Error {
  override name = 'AgentAlreadyRunningError';
}

interface LockHolder {
  pid: number;
  startedAt: string;
  host: string;
}

export interface StateLock {
  release(): Promise<void>;
}

/**
 * Takes the lock file, or says who holds it. A lock whose holder is no longer alive (pid and start
 * time are compared, for pids are reused) is stale and taken over.
 */
export async function acquireStateLock(lockFile: string): Promise<StateLock> {
  const self = await findProcess(process.pid);
  if (self === null) throw new Error('The agent does not find itself in the list of processes.');
  const holder: LockHolder = { pid: self.pid, startedAt: self.startedAt, host: hostname() };
  const text = `${JSON.stringify(holder)}\n`;
  for (;;) {
    if (await createWhole(lockFile, text)) {
      return { release: () => rm(lockFile, { force: true }) };
    }
    const found = await readIfThere(lockFile);
    if (found === null) continue;
    await refuseIfAlive(lockFile, found);
    await removeStale(lockFile, found);
  }
}

/** A link appears at once with its content: nobody reads a lock that is half written. */
async function createWhole(lockFile: string, text: string): Promise<boolean> {
  const draft = `${lockFile}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, lockFile);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function refuseIfAlive(lockFile: string, text: string): Promise<void> {
  const holder = parseHolder(text);
  if (holder === null) return;
  if (holder.host !== hostname()) {
    throw new AgentAlreadyRunningError(
      `The state directory is locked by an agent on ${holder.host}. ` +
        `If that machine is gone, remove ${lockFile}.`,
    );
  }
  const live = await findProcess(holder.pid);
  if (live?.startedAt === holder.startedAt) {
    throw new AgentAlreadyRunningError(
      `An agent (process ${holder.pid}) uses this state directory already. ` +
        'Stop it, or give this one another directory.',
    );
  }
}

/**
 * Two agents may find the same stale lock. Only one rename of it succeeds; one that catches the
 * fresh lock of the other instead puts it back.
 */
async function removeStale(lockFile: string, expected: string): Promise<void> {
  const aside = `${lockFile}.stale.${process.pid}`;
  try {
    await rename(lockFile, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== expected) await link(aside, lockFile);
  await rm(aside, { force: true });
}

function parseHolder(text: string): LockHolder | null {
  try {
    const value = JSON.parse(text) as Partial<LockHolder>;
    const { pid, startedAt, host } = value;
    if (pid === undefined || startedAt === undefined || host === undefined) return null;
    return { pid, startedAt, host };
  } catch {
    // Not a lock that an agent wrote to its end: nobody holds it.
    return null;
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
