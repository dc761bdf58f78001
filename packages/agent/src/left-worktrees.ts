import { execFile } from 'node:child_process';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listWarm, removeWarm } from './git/warm-worktrees.ts';
import { removeToolTree } from './process/tool-file.ts';
import { openStateDirectory, readJsonFile } from './state-directory.ts';

/** A worktree that an agent keeps in its state directory after the attempt has ended. */
export interface LeftWorktree {
  /**
   * kept: its changes could not be published. session: of a job whose tool may continue. warm: no
   * job uses it, and a later one may.
   */
  kind: 'kept' | 'session' | 'warm';
  path: string;
  /** Null: the directory does not say. */
  jobId: string | null;
  changedAt: Date;
  /** Its space on the disk; objects that it borrows from the mirror do not count. */
  sizeBytes: number;
}

/** Lists the worktrees that an agent has left; also beside a running agent. */
export async function listLeftWorktrees(stateDir: string): Promise<LeftWorktree[]> {
  const { kept, sessions, warm } = await openStateDirectory(stateDir);
  const left: LeftWorktree[] = [];
  async function add(kind: LeftWorktree['kind'], path: string, jobId: string | null) {
    const found = await lstat(path);
    left.push({ kind, path, jobId, changedAt: found.mtime, sizeBytes: await measureBytes(path) });
  }
  for (const name of await readdir(kept)) {
    const [, jobId = null] = /^(.+)-\d+$/.exec(name) ?? [];
    await add('kept', join(kept, name), jobId);
  }
  for (const name of await readdir(sessions)) {
    const path = join(sessions, name);
    const record = (await readJsonFile(join(path, 'session.json'))) as { jobId?: unknown } | null;
    await add('session', path, typeof record?.jobId === 'string' ? record.jobId : null);
  }
  for (const repository of await readdir(warm)) {
    const path = join(warm, repository);
    for (const name of await listWarm(path)) await add('warm', join(path, name), null);
  }
  return left;
}

/** Follows no link. A job may take a worktree meanwhile, so what has gone does not count. */
async function measureBytes(path: string): Promise<number> {
  const kilobytes = await new Promise<string>((resolve) => {
    execFile('du', ['-sk', '--', path], (_error, stdout) => resolve(stdout));
  });
  return (Number.parseInt(kilobytes, 10) || 0) * 1024;
}

/** Deletes one of them. */
export async function removeLeftWorktree({ kind, path }: LeftWorktree): Promise<void> {
  await (kind === 'warm' ? removeWarm(path) : removeToolTree(path));
}
