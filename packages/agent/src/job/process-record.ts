import { writeFileDurably } from '../state-directory.ts';
import type { JobWork } from './job-work.ts';

/** Lets a restarted agent find the processes of its crashed predecessor. */
export interface ProcessRecord {
  mark: string;
  pid: number | null;
  startedAt: string | null;
}

/**
 * Records the mark before the attempt's first process; from then on the mark is enough to find it.
 */
export async function recordMark(work: JobWork): Promise<void> {
  await writeProcessRecord(work, { mark: work.mark, pid: null, startedAt: null });
}

export async function writeProcessRecord(work: JobWork, record: ProcessRecord): Promise<void> {
  await writeFileDurably(work.directory.processFile, `${JSON.stringify(record)}\n`);
}
