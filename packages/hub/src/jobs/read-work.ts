import type { Evidence, JobStatus, Work } from '@signalbox/contract';
import { ROUNDS_LISTED_MAX } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import { asObject } from '../queue/matching.ts';
import type { HookDeps } from '../start/hooks.ts';
import { parseColumn } from './present.ts';
import type { JobRow } from './store.ts';
import { type RoundRow, readRounds } from './store-rounds.ts';
import { readWholeJob, type WholeJob } from './store-whole.ts';
import { readWorkRow } from './store-works.ts';

/** Sentences that a work lacks, as the contract limits them. */
const MISSING_MAX = 60;
const MISSING_CHARS_MAX = 1_000;
const REASON_CHARS_MAX = 2_000;
/** Files that a sentence names; the rest is counted. */
const FILES_SHOWN = 3;

const unended: readonly JobStatus[] = ['pending', 'running', 'blocked'];

export function hasNotEnded(status: JobStatus): boolean {
  return unended.includes(status);
}

/** A piece of work, with the jobs that decide its state. */
export interface WorkRecord {
  work: Work;
  /** The latest round that was not canceled; the latest of all if all were. */
  latest: WholeJob;
  /** A round that has not ended. */
  unended: RoundRow | undefined;
}

/** The first job of the work of a round, which names the work. */
export function workIdOf({ job_id, work_job_id }: Pick<JobRow, 'job_id' | 'work_job_id'>): string {
  return work_job_id ?? job_id;
}

/** Reads the work of a job; null if its jobs are deleted. A landing has that of its round. */
export async function readWork(
  { hooks }: Pick<HookDeps, 'hooks'>,
  reader: Reader,
  job: JobRow,
): Promise<WorkRecord | null> {
  const { workspace_id: workspaceId, lands_job_id: landsJobId } = job;
  if (landsJobId !== null) {
    const round = await readWholeJob(reader, workspaceId, landsJobId);
    return round === undefined ? null : readWork({ hooks }, reader, round);
  }
  const workJobId = workIdOf(job);
  const [rounds, row] = await Promise.all([
    readRounds(reader, workspaceId, workJobId, ROUNDS_LISTED_MAX),
    readWorkRow(reader, workspaceId, workJobId),
  ]);
  const kept = rounds.find(({ status }) => status !== 'canceled') ?? rounds[0];
  const latest = kept && (await readWholeJob(reader, workspaceId, kept.job_id));
  if (latest === undefined) return null;
  const open = rounds.find(({ status }) => hasNotEnded(status));
  const { commitSha, verdict } = resultOf(latest);
  const ended = latest.work_ended;
  const inReview = ended === null && open === undefined && commitSha !== null;
  const told = parseColumn<Work['approval']>(row?.approval);
  const isOfLatest = told?.jobId === latest.job_id && told.commitSha === commitSha;
  const work: Work = {
    workJobId,
    state: ended ?? (inReview ? 'in_review' : 'open'),
    jobId: latest.job_id,
    commitSha,
    verdict,
    approval: isOfLatest ? told : null,
    missing: inReview ? await listMissing({ hooks }, reader, latest) : [],
    landing: await readLanding(reader, workspaceId, row),
    landed: parseColumn<Work['landed']>(row?.landed),
  };
  return { work, latest, unended: open };
}

function evidenceOf({ evidence }: JobRow): Record<string, unknown> {
  return asObject(JSON.parse(evidence ?? 'null')) ?? {};
}

/** Only a round that is done has a commit to approve. */
function resultOf(latest: WholeJob): Pick<Work, 'commitSha' | 'verdict'> {
  const { commitSha }: Evidence = evidenceOf(latest);
  const isResult = latest.status === 'done' && typeof commitSha === 'string' && commitSha !== '';
  return { commitSha: isResult ? commitSha : null, verdict: latest.verdict };
}

/** The sentences on what the latest round lacks for an approval without an override. */
async function listMissing(
  { hooks }: Pick<HookDeps, 'hooks'>,
  reader: Reader,
  latest: WholeJob,
): Promise<string[]> {
  const { workspace_id: workspaceId } = latest;
  const { gaps, secretsIn, conflicts } = evidenceOf(latest);
  const threads = await hooks.countOpenThreads(reader, workspaceId, workIdOf(latest));
  const missing: string[] = [];
  if (threads === 1) missing.push('1 review comment is not resolved.');
  if (threads > 1) missing.push(`${threads} review comments are not resolved.`);
  const named = textsOf(gaps);
  missing.push(...named);
  if (latest.verdict === 'gaps' && named.length === 0) missing.push('Its checks have gaps.');
  if (latest.verdict === null) missing.push('Its agent did not say how it was checked.');
  const secret = textsOf(secretsIn)[0];
  if (secret !== undefined) missing.push(`${secret} contains a secret of its agent.`);
  const { into, files } = asObject(conflicts) ?? {};
  if (typeof into === 'string' && textsOf(files).length > 0) {
    missing.push(`It conflicts with ${into} in ${nameFiles(textsOf(files))}.`);
  }
  return missing.slice(0, MISSING_MAX).map((text) => text.slice(0, MISSING_CHARS_MAX));
}

/** An agent may send these fields in any form. */
function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

function nameFiles(files: readonly string[]): string {
  const more = files.length - FILES_SHOWN;
  const shown = files.slice(0, FILES_SHOWN).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

async function readLanding(
  reader: Reader,
  workspaceId: string,
  row: Awaited<ReturnType<typeof readWorkRow>>,
): Promise<Work['landing']> {
  if (row?.landing_job_id == null) return null;
  const job = await readWholeJob(reader, workspaceId, row.landing_job_id);
  if (job === undefined) return null;
  const conflicts = parseColumn<NonNullable<Work['landing']>['conflicts']>(row.landing_conflicts);
  return { jobId: job.job_id, status: job.status, conflicts, reason: reasonOf(job) };
}

function reasonOf({ status, message, outcome_reason }: WholeJob): string | null {
  if (status === 'canceled') return 'The landing was canceled.';
  if (status !== 'failed') return null;
  const reason: unknown = JSON.parse(outcome_reason ?? 'null');
  const summary = typeof reason === 'string' ? reason : asObject(reason)?.summary;
  const text = typeof summary === 'string' ? summary : (message ?? 'The landing failed.');
  return text.slice(0, REASON_CHARS_MAX);
}
