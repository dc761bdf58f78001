import { join } from 'node:path';
import type { Job } from '@signalbox/contract';
import { isObject } from '../executors/json-fields.ts';
import { isCommit } from '../git/git.ts';
import type { GitEvidence } from '../git/git-evidence.ts';
import { readJsonFile, type StateDirectory, writeFileDurably } from '../state-directory.ts';
import { pathName } from './attempt.ts';

/**
 * The commits of a job that has ended, in `works/<job>.result.json`: what the agent may share of it
 * when a member asks. The hub names the job only, so it cannot ask for other commits.
 */
export interface ResultRecord {
  workspaceId: string;
  jobId: string;
  repoId: string;
  baseSha: string;
  commitSha: string;
  /** Of a later round. */
  roundBaseSha?: string;
  /**
   * Changed files of the work with a secret that only its jobs may have known. Null: they could not
   * be searched.
   */
  secretsIn: readonly string[] | null;
}

function fileOf(state: StateDirectory, jobId: string): string {
  return join(state.works, `${pathName(jobId)}.result.json`);
}

/** @param evidence of a job that has a commit. @param isSearched its changes, for secrets. */
export async function keepResultRecord(
  state: StateDirectory,
  { workspaceId, jobId, repoId, continuesJobId }: Job,
  { commitSha, baseSha, roundBaseSha, secretsIn = [] }: GitEvidence,
  isSearched: boolean,
): Promise<void> {
  if (commitSha === undefined || baseSha === undefined) return;
  const before = continuesJobId ? await readResultRecord(state, continuesJobId) : null;
  const isKnown = isSearched && before?.secretsIn !== null;
  const record: ResultRecord = {
    workspaceId,
    jobId,
    repoId,
    baseSha,
    commitSha,
    ...(roundBaseSha === undefined ? {} : { roundBaseSha }),
    secretsIn: isKnown ? [...new Set([...(before?.secretsIn ?? []), ...secretsIn])] : null,
  };
  await writeFileDurably(fileOf(state, jobId), `${JSON.stringify(record, null, 2)}\n`);
}

/** Null: the job did not end here with a commit, or long ago. */
export async function readResultRecord(
  state: StateDirectory,
  jobId: string,
): Promise<ResultRecord | null> {
  // Only `keepResultRecord` writes this file.
  const found = (await readJsonFile(fileOf(state, jobId))) as ResultRecord | null;
  if (!isObject(found) || found.jobId !== jobId) return null;
  const { baseSha, commitSha, roundBaseSha = baseSha } = found;
  // A tool of the same user may have changed it, and git must not read a commit as an option.
  return [baseSha, commitSha, roundBaseSha].every(isCommit) ? found : null;
}
