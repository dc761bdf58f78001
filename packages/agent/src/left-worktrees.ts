import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeToolTree } from './process/tool-file.ts';
import { openStateDirectory, readJsonFile } from './state-directory.ts';

/** A worktree that an agent keeps in its state directory after the attempt has ended. */
export interface LeftWorktree {
  /** kept: its changes could not be published. session: of a job whose tool may continue. */
  kind: 'kept' | 'session';
  path: string;
  /** Null: the directory does not say. */
  jobId: string | null;
  changedAt: Date;
}

/** Lists the worktrees that an agent has left; also beside a running agent. */
export async function listLeftWorktrees(stateDir: string): Promise<LeftWorktree[]> {
  const { kept, sessions } = await openStateDirectory(stateDir);
  const left: LeftWorktree[] = [];
  for (const name of await readdir(kept)) {
    const path = join(kept, name);
    const [, jobId = null] = /^(.+)-\d+$/.exec(name) ?? [];
    left.push({ kind: 'kept', path, jobId, changedAt: (await lstat(path)).mtime });
  }
  for (const name of await readdir(sessions)) {
    const path = join(sessions, name);
    const record = (await readJsonFile(join(path, 'session.json'))) as { jobId?: unknown } | null;
    const jobId = typeof record?.jobId === 'string' ? record.jobId : null;
    left.push({ kind: 'session', path, jobId, changedAt: (await lstat(path)).mtime });
  }
  return left;
}

/** Deletes one of them. */
export async function removeLeftWorktree({ path }: LeftWorktree): Promise<void> {
  await removeToolTree(path);
}
