import { findProcess } from '../process/process-list.ts';
import { writeFileDurably } from '../state-directory.ts';
import type { JobWork } from './job-work.ts';

/** Lets a restarted agent find the processes of its crashed predecessor. */
export interface ProcessRecord {
  /** The worktree of the attempt. */
  worktree: string;
  mark: string;
  /** Where the report of its tools is kept for the next attempt; absent: that has a new session. */
  reportTo?: string;
  pid: number | null;
  startedAt: string | null;
}

/**
 * Records how to find the processes of an attempt: before its first process, and again with the
 * tool's own.
 */
export async function recordProcess(work: JobWork, pid: number | null): Promise<void> {
  const row = pid === null ? null : await findProcess(pid);
  // It has ended already.
  if (pid !== null && row === null) return;
  const { startedAt = null } = row ?? {};
  const record: ProcessRecord = {
    worktree: work.directory.worktree,
    mark: work.mark,
    pid,
    startedAt,
    ...(work.session === undefined ? {} : { reportTo: work.session.reportFile }),
  };
  await writeFileDurably(work.directory.processFile, `${JSON.stringify(record)}\n`);
}
