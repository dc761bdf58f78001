import { existsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listWarm, removeWarm } from './git/warm-worktrees.ts';
import { type ProgramError, runProgram } from './process/run-program.ts';
import { removeToolTree } from './process/tool-file.ts';
import { listCaches, removeCache } from './setup/setup-cache.ts';
import { openStateDirectory, readJsonFile } from './state-directory.ts';

/** A worktree, or folders of a set-up, in the state directory of an agent. */
export interface KeptFiles {
  /**
   * job: an attempt works there, or has until a kill. session: of a job whose tool may continue.
   * kept: its changes could not be published. warm: no job uses it, and a later one may. setup:
   * filled by a command of a set-up.
   */
  kind: 'job' | 'session' | 'kept' | 'warm' | 'setup';
  path: string;
  /** Null: the directory does not say. */
  jobId: string | null;
  changedAt: Date;
  /** Its space on the disk; objects that it borrows from the mirror do not count. */
  sizeBytes: number;
}

/** Lists what agents have in a state directory; also beside a running agent. */
export async function listKeptFiles(stateDir: string): Promise<KeptFiles[]> {
  const { jobs, kept, sessions, warm, setups } = await openStateDirectory(stateDir);
  const files: KeptFiles[] = [];
  async function add(kind: KeptFiles['kind'], path: string, jobId: string | null) {
    // A job may take or leave it meanwhile.
    const found = await lstat(path).catch(() => null);
    if (found === null) return;
    files.push({ kind, path, jobId, changedAt: found.mtime, sizeBytes: await measureBytes(path) });
  }
  for (const name of await readdir(jobs)) {
    const path = join(jobs, name, 'worktree');
    if (isOfJob(name) && existsSync(path)) await add('job', path, jobOf(name));
  }
  for (const name of await readdir(sessions)) {
    const path = join(sessions, name);
    const record = (await readJsonFile(join(path, 'session.json'))) as { jobId?: unknown } | null;
    await add('session', path, typeof record?.jobId === 'string' ? record.jobId : null);
  }
  for (const name of await readdir(kept)) await add('kept', join(kept, name), jobOf(name));
  for (const repository of await readdir(warm)) {
    const path = join(warm, repository);
    for (const name of await listWarm(path)) await add('warm', join(path, name), null);
  }
  for (const path of await listCaches(setups)) await add('setup', path, null);
  return files;
}

const keyPattern = /^(.+)-\d+$/;
const jobOf = (key: string) => keyPattern.exec(key)?.[1] ?? null;
/** The agent has places of its own there, to try the isolation. */
const isOfJob = (key: string) => keyPattern.test(key);

const MEASURE_MS_MAX = 10 * 60_000;

/** Follows no link. */
async function measureBytes(path: string): Promise<number> {
  const measured = runProgram('du', ['-skP', '--', path], { limitMs: MEASURE_MS_MAX });
  // It ends with 1 for a folder that it may not read, after the size of the others.
  const { stdout: kilobytes } = await measured.catch((error: ProgramError) => error);
  return (Number.parseInt(kilobytes, 10) || 0) * 1024;
}

/** Deletes some of them. */
export async function removeKeptFiles({ kind, path }: KeptFiles): Promise<void> {
  if (kind === 'warm') await removeWarm(path);
  else if (kind === 'setup') await removeCache(path);
  else await removeToolTree(path);
}
