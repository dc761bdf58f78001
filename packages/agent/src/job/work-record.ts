import { join } from 'node:path';
import type { Job } from '@signalbox/contract';
import { isObject } from '../executors/json-fields.ts';
import { readJsonFile, type StateDirectory, writeFileDurably } from '../state-directory.ts';
import { pathName } from './attempt.ts';

/**
 * The tool's session after a job has ended, so that the next round of the work can
 * resume it: `works/<work>.json`. Its worktree is removed, and made again at the same place.
 */
export interface WorkRecord {
  workspaceId: string;
  /** The round that used the session last. */
  jobId: string;
  executor: string;
  /** The coding tool: another one does not know the session. */
  tool: string;
  sessionId: string;
  costUsd: number;
}

/** The first job of a piece of work names it. */
export function workIdOf({ workJobId, jobId }: Pick<Job, 'workJobId' | 'jobId'>): string {
  // Absent on older hubs, whose jobs continue none.
  return workJobId ?? jobId;
}

function fileOf(state: StateDirectory, workId: string): string {
  return join(state.works, `${pathName(workId)}.json`);
}

/** Durable before the result of the job is sent: the next round may follow at once. */
export async function keepWorkRecord(
  state: StateDirectory,
  job: Job,
  record: WorkRecord,
): Promise<void> {
  await writeFileDurably(fileOf(state, workIdOf(job)), `${JSON.stringify(record, null, 2)}\n`);
}

/** The session that a round continues; null: none, or that of another round or tool. */
export async function findWorkRecord(
  state: StateDirectory,
  job: Job,
  { executor, tool }: Pick<WorkRecord, 'executor' | 'tool'>,
): Promise<WorkRecord | null> {
  if (!job.continuesJobId) return null;
  // Only `keepWorkRecord` writes this file.
  const found = (await readJsonFile(fileOf(state, workIdOf(job)))) as WorkRecord | null;
  if (!isObject(found)) return null;
  const isBefore = found.workspaceId === job.workspaceId && found.jobId === job.continuesJobId;
  return isBefore && found.executor === executor && found.tool === tool ? found : null;
}
