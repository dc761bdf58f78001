import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { keeperSocketName } from './keeper-protocol.ts';

export const folderPrefix = 'signalbox-pg-';
/** A folder without a keeper's socket may be new, with its keeper about to start. */
const startMs = 60_000;
/** PostgreSQL itself kills processes that have not ended after five seconds. */
const endMsMax = 10_000;

/**
 * Removes the folders of servers whose keeper was killed, and ends such servers if they still run.
 * Folders of live keepers and of other users are not touched.
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
      // Another process removed the folder meanwhile, or it belongs to another user.
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

/** Ends the server first: removing files while it is ending would fail. */
async function endServerOf(folder: string): Promise<void> {
  const file = join(folder, 'data/postmaster.pid');
  if (!existsSync(file)) return;
  const [processId = '', dataFolder = ''] = readFileSync(file, 'utf8').split('\n');
  // The process ID may have been reused.
  if (!isPostgresOn(processId, dataFolder)) return;
  process.kill(Number(processId), 'SIGQUIT');
  const deadlineMs = performance.now() + endMsMax;
  // There is no notification for the end of a process that is not a child, so poll.
  while (isPostgresOn(processId, dataFolder) && performance.now() < deadlineMs) await wait(20);
}

function isPostgresOn(processId: string, dataFolder: string): boolean {
  try {
    const command = readFileSync(`/proc/${processId}/cmdline`, 'utf8').split('\0');
    return command.includes(dataFolder);
  } catch {
    // No such process, or no /proc on this system: then the server fails when its files disappear.
    return false;
  }
}
