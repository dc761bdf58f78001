import type { Job, JobStatus, Verdict, Work as WorkState } from '@signalbox/contract';
import { ApiError, UnreachableError } from '@signalbox/sdk';
import { CliError } from '../cli-error.ts';
import { findJobId } from '../find/job-reference.ts';
import { type HubChoice, type HubSession, openHubSession } from '../hub/hub-session.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/text.ts';
import type { WorkBranch } from './branches.ts';

/** A branch of this clone, with what the hub knows of its job, the latest round on the branch. */
export interface Work {
  branch: WorkBranch;
  /** Null: the hub does not know the job, or did not answer. */
  job: Job | null;
  /** Of the commit that the branch has now. Null: it was never judged, or has moved since. */
  verdict: Verdict | null;
  /** Of the whole work. Null: the hub does not say. */
  state: WorkState | null;
}

/** Their work on the branch continues. */
export const activeStatuses: readonly JobStatus[] = ['pending', 'running', 'blocked'];

/** How many jobs are asked for at once. */
const CALLS_MAX = 8;
const STATUS_UNAUTHORIZED = 401;

/**
 * Reads the jobs of branches. The branches are on this machine, so a hub that does not answer is no
 * reason to hide them: a note says that their jobs are unknown.
 */
export async function readWork(
  io: Io,
  choice: HubChoice,
  branches: readonly WorkBranch[],
): Promise<{ works: Work[]; session: HubSession | null }> {
  try {
    const session = await openHubSession(io, choice);
    const works: Work[] = [];
    for (let at = 0; at < branches.length; at += CALLS_MAX) {
      const some = branches.slice(at, at + CALLS_MAX);
      works.push(...(await Promise.all(some.map((branch) => readOne(session, branch)))));
    }
    return { works, session };
  } catch (error) {
    if (!isHubAbsent(error)) throw error;
    io.note(`The jobs of these branches are unknown: ${oneLine(error.message)}`);
    return {
      works: branches.map((branch) => ({ branch, job: null, verdict: null, state: null })),
      session: null,
    };
  }
}

function isHubAbsent(error: unknown): error is Error {
  if (error instanceof UnreachableError || error instanceof CliError) return true;
  return error instanceof ApiError && (error.status === STATUS_UNAUTHORIZED || error.status >= 500);
}

/**
 * Finds the branch of a later round, whose job is not in the name of the branch. Null: there is
 * none, or the hub does not answer.
 */
export async function findRoundBranch(
  io: Io,
  choice: HubChoice,
  branches: readonly WorkBranch[],
  reference: string,
): Promise<WorkBranch | null> {
  try {
    const session = await openHubSession(io, choice);
    const { client, workspaceId } = session;
    const jobId = await findJobId(session, reference);
    const { job } = await client.jobs.get({ workspaceId, jobId });
    return branches.find(({ name }) => name === job.evidence?.branch) ?? null;
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.code === 'JOB_NOT_FOUND';
    if (isUnknown || isHubAbsent(error)) return null;
    throw error;
  }
}

async function readOne(session: HubSession, branch: WorkBranch): Promise<Work> {
  try {
    const { job, work: state = null } = await readLatestRound(session, branch);
    const isJudged = job.evidence?.commitSha === branch.commitSha;
    const { jobId } = job;
    const isFirst = jobId === branch.jobId;
    const ofRound = isFirst ? branch : { ...branch, jobId, attempt: job.attempt };
    return { branch: ofRound, job, verdict: isJudged ? job.verdict : null, state };
  } catch (error) {
    // Of another workspace, or deleted after its retention.
    if (error instanceof ApiError && error.code === 'JOB_NOT_FOUND') {
      return { branch, job: null, verdict: null, state: null };
    }
    throw error;
  }
}

/**
 * Reads the latest round that works on a branch, or has left its commits there. The branch has the
 * name of the job that began it.
 */
async function readLatestRound(
  { client, workspaceId }: HubSession,
  { jobId, name }: WorkBranch,
): Promise<{ job: Job; work?: WorkState }> {
  const read = (id: string) => client.jobs.get({ workspaceId, jobId: id });
  const first = await read(jobId);
  const later = (first.rounds ?? []).filter(({ round }) => round > first.job.round).toReversed();
  for (const { jobId: id, status } of later) {
    if (status === 'canceled') continue;
    const round = await read(id);
    const isHere = round.job.evidence?.branch === name;
    if (activeStatuses.includes(status) || isHere) return round;
  }
  return first;
}

/** The document of a branch for programs. */
export function workJson({ branch, job, verdict, state }: Work) {
  const { name, isCheckedOut, isMerged, ...fields } = branch;
  return {
    branch: name,
    ...fields,
    merged: isMerged,
    checkedOut: isCheckedOut,
    status: job?.status ?? null,
    verdict,
    state: state?.state ?? null,
    title: job?.title ?? null,
  };
}
