import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { keeperSocketName } from './keeper-protocol.ts';

export const folderPrefix = 'signalbox-pg-';
/** A folder without a keeper's socket may be a moment old, its keeper about to start. */
const startMs = 60_000;
/** PostgreSQL itself kills what has not ended after five seconds. */
const endMsMax = 10_000;

/**
 * Removes what servers left whose keeper was killed itself, together with the server if it still
 * runs. Folders of living keepers, and those of other users, are left alone.
 */
export async function removeStaleFolders(parent: string): Promise<void> {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(folderPrefix)) continue;
    const folder = join(parent, name);
    try {
      if (await isKept(folder)) continue;
      await endServerOf(folder);
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Removed by somebody else meanwhile, or not ours to remove.
      if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'EPERM') throw error;
    }
  }
}

async function isKept(folder: string): Promise<boolean> {
  const path = join(folder, keeperSocketName);
  if (!existsSync(path)) return Date.now() - statSync(folder).mtimeMs < startMs;
  return new Promise((resolve, reject) => {
    const connection = connect(path);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(false);
      else reject(error);
    });
  });
}

/** Removing files from under a server that is still ending would fail half-way. */
async function endServerOf(folder: string): Promise<void> {
  const file = join(folder, 'data/postmaster.pid');
  if (!existsSync(file)) return;
  const [processId = '', dataFolder = ''] = readFileSync(file, 'utf8').split('\n');
  // The number may have been given to another process since.
  if (!isPostgresOn(processId, dataFolder)) return;
  process.kill(Number(processId), 'SIGQUIT');
  const deadlineMs = performance.now() + endMsMax;
  // Nobody tells when a process ends that is not a child.
  while (isPostgresOn(processId, dataFolder) && performance.now() < deadlineMs) await wait(20);
}

function isPostgresOn(processId: string, dataFolder: string): boolean {
  try {
    const command = readFileSync(`/proc/${processId}/cmdline`, 'utf8').split('\0');
    return command.includes(dataFolder);
  } catch {
    // No such process, or a system that does not tell: then the server sees its files go.
    return false;
  }
}
