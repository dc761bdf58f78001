import type { ProcessRow } from '../process/process-list.ts';
import { writeFileDurably } from '../state-directory.ts';
import type { JobWork } from './job-work.ts';

/** Lets a restarted agent find the processes of its crashed predecessor. */
export interface ProcessRecord {
  mark: string;
  /** The job's worktree. */
  directory: string;
  pid: number | null;
  startedAt: string | null;
}

/**
 * Records how to find the processes of an attempt: before its first process, and again with the
 * tool's own.
 */
export async function recordProcess(work: JobWork, row: ProcessRow | null): Promise<void> {
  const { mark, directory } = work;
  const { pid = null, startedAt = null } = row ?? {};
  const record: ProcessRecord = { mark, directory: directory.worktree, pid, startedAt };
  await writeFileDurably(directory.processFile, `${JSON.stringify(record)}\n`);
}
