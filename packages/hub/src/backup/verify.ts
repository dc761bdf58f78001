import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { listScheduled } from '../archive/store.ts';
import { verifyChain } from '../audit/verify.ts';
import type { Reader } from '../db/engine.ts';
import { findEntriesWithoutJob, findJobsWithoutEntry } from '../jobs/store-whole.ts';
import { listAllWorkspaces } from '../workspaces/store.ts';
import { hashFile } from './copy-file.ts';
import { listStoredObjects } from './stored-objects.ts';

/** The result of one check. */
export interface VerifiedPart {
  name: string;
  /** The extent of the check, such as `3 workspaces`. */
  extent: string;
  /** A sentence each; empty if the part is whole. */
  problems: string[];
}

/** Problems of one part beyond this number say nothing new. */
const PROBLEMS_MAX = 20;

/** Recomputes the audit log of every workspace. */
export async function verifyAuditLogs(reader: Reader): Promise<VerifiedPart> {
  const workspaces = await listAllWorkspaces(reader);
  const problems: string[] = [];
  let entries = 0;
  for (const { workspace_id: workspaceId, slug } of workspaces) {
    const verdict = await verifyChain(reader, workspaceId);
    entries += verdict.lastSeq;
    if (verdict.reason === null) continue;
    problems.push(
      `The audit log of the workspace ${slug} is broken at entry ${verdict.brokenAtSeq} ` +
        `(${verdict.reason}): someone changed the database, or it is damaged.`,
    );
  }
  const places = `${workspaces.length} workspace${workspaces.length === 1 ? '' : 's'}`;
  const extent = `${entries} ${entries === 1 ? 'entry' : 'entries'} in ${places}`;
  return { name: 'Audit logs', extent, problems };
}

/** Compares the files of uploads and archives with the hashes in the database. */
export async function verifyObjects(reader: Reader, dataDir: string): Promise<VerifiedPart> {
  const problems: string[] = [];
  let files = 0;
  for await (const object of listStoredObjects(reader)) {
    if (problems.length >= PROBLEMS_MAX) break;
    files += 1;
    const path = join(dataDir, object.path);
    const problem = await findProblem(path, object);
    // Retention may have deleted it between the two looks.
    if (problem !== null && (await object.isStillStored(reader))) problems.push(problem);
  }
  return {
    name: 'Files',
    extent: `${files} file${files === 1 ? '' : 's'} of uploads and archives`,
    problems,
  };
}

async function findProblem(
  path: string,
  { name, sizeBytes, sha256 }: { name: string; sizeBytes: number; sha256: string },
): Promise<string | null> {
  if (!existsSync(path)) {
    return `The file of ${name} is missing: restore ${path} from a backup.`;
  }
  const content = await hashFile(path);
  if (content.sizeBytes !== sizeBytes) {
    return (
      `The file of ${name} has ${content.sizeBytes} bytes instead of ${sizeBytes}: restore ` +
      `${path} from a backup.`
    );
  }
  if (content.sha256 === sha256) return null;
  return `The file of ${name} has other content than was stored: restore ${path} from a backup.`;
}

/** Looks for jobs without their queue entry, and for entries without their job. */
export async function verifyJobs(reader: Reader): Promise<VerifiedPart> {
  const [jobs, entries] = await Promise.all([
    findJobsWithoutEntry(reader, PROBLEMS_MAX),
    findEntriesWithoutJob(reader, PROBLEMS_MAX),
  ]);
  // A job whose long timeline is being deleted loses its entry first and its row last.
  const scheduled = await listScheduled(reader, jobs);
  const lonely = jobs.filter((id) => !scheduled.has(id));
  const problems = [
    ...lonely.map((id) => `The job ${id} has no entry in the queue: restore a backup.`),
    ...entries.map((id) => `The queue has an entry for ${id}, which is no job: restore a backup.`),
  ];
  return {
    name: 'Jobs',
    extent: 'each job has its entry in the queue, and each entry its job',
    problems,
  };
}
