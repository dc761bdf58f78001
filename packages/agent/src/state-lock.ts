import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { parseObject } from './executors/json-fields.ts';
import { renameIfThere, unlessMissing } from './missing-file.ts';
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
 * Acquires the lock file, or throws an error that names its holder. A lock whose holder is no
 * longer alive is stale and taken over; pid and start time are compared, because pids are reused.
 */
export async function acquireStateLock(lockFile: string): Promise<StateLock> {
  const self = await findProcess(process.pid);
  if (self === null) throw new Error("The agent's own process is missing from the process list.");
  const holder: LockHolder = { pid: self.pid, startedAt: self.startedAt, host: hostname() };
  const text = `${JSON.stringify(holder)}\n`;
  for (;;) {
    if (await createWhole(lockFile, text)) {
      return { release: () => rm(lockFile, { force: true }) };
    }
    const found = await unlessMissing(readFile(lockFile, 'utf8'));
    if (found === null) continue;
    await refuseIfAlive(lockFile, found);
    await removeStale(lockFile, found);
  }
}

/**
 * Creates the file by a link, so that it appears with its content: a lock is never read half
 * written.
 */
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
      `An agent (process ${holder.pid}) already uses this state directory. ` +
        'Stop it, or choose another directory for this agent.',
    );
  }
}

/**
 * Removes a stale lock. Of two agents that find the same one, only one can rename it; if a rename
 * catches the other agent's new lock instead, that lock is put back.
 */
async function removeStale(lockFile: string, expected: string): Promise<void> {
  const aside = `${lockFile}.stale.${process.pid}`;
  if (!(await renameIfThere(lockFile, aside))) return;
  if ((await readFile(aside, 'utf8')) !== expected) await link(aside, lockFile);
  await rm(aside, { force: true });
}

/** An incompletely written lock has no holder. */
function parseHolder(text: string): LockHolder | null {
  const { pid, startedAt, host } = (parseObject(text) ?? {}) as Partial<LockHolder>;
  if (pid === undefined || startedAt === undefined || host === undefined) return null;
  return { pid, startedAt, host };
}
