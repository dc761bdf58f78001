import { endpoints, type RequestOf } from '@signalbox/contract';
import { readComment, updateComment } from '../../src/review/store.ts';
import type { World } from './api-world.ts';

const { jobs, reviewComments } = endpoints;

export const reviewed = { commitSha: 'b'.repeat(40), baseSha: 'a'.repeat(40) };
export const examplePlace: NonNullable<RequestOf<typeof reviewComments.save>['place']> = {
  path: 'src/health.ts',
  side: 'result',
  startLine: 4,
  endLine: 5,
  lines: 'export function health() {\n  return true;',
};

/** A job that has ended with a commit. */
export async function finishWithCommit(world: World): Promise<string> {
  const { jobId } = await world.startJob();
  const { workspaceId } = world.home;
  const { job } = await world.call(jobs.get, { workspaceId, jobId });
  const held = { workspaceId, jobId, agentId: job.agentId ?? '' };
  await world.call(jobs.complete, { ...held, outcome: 'done', evidence: reviewed });
  return jobId;
}

/** A job that has ended with a commit, whose agent shares its patch on request. */
export async function finishOnRequest(world: World): Promise<string> {
  const jobId = await finishWithCommit(world);
  const { repoId } = world.home;
  const capabilities = { canWrite: true, changesOnRequest: [repoId] };
  await world.addAgent(world.home, 'home-machine', capabilities);
  return jobId;
}

/** The same, and a member has asked. */
export async function askForPatch(world: World): Promise<string> {
  const jobId = await finishOnRequest(world);
  await world.call(jobs.requestPatch, { workspaceId: world.home.workspaceId, jobId });
  return jobId;
}

/** Its agent did not say how it was checked. */
export const approvedAnyway = { commitSha: reviewed.commitSha, override: 'Read by hand.' };

/** A job that has ended with a commit, which is approved. */
export async function approveResult(world: World): Promise<string> {
  const jobId = await finishWithCommit(world);
  const { workspaceId } = world.home;
  await world.call(endpoints.works.approve, { workspaceId, jobId, ...approvedAnyway });
  return jobId;
}

export async function addDraft(world: World, jobId?: string): Promise<string> {
  const { comment } = await world.call(reviewComments.save, {
    workspaceId: world.home.workspaceId,
    jobId: jobId ?? (await finishWithCommit(world)),
    place: examplePlace,
    text: 'Return the version, too.',
  });
  return comment.commentId;
}

/** @param jobId a job that has its number, as if it were a round of the work. */
export async function addSent(world: World, jobId?: string): Promise<string> {
  const { workspaceId } = world.home;
  const commentId = await addDraft(world);
  const { database } = world.hub;
  await database.write(workspaceId, async (tx) => {
    const row = await readComment(tx, workspaceId, commentId);
    if (row === undefined) throw new Error('the draft is gone');
    const { work_job_id } = row;
    await updateComment(tx, row, { number: 1, work_job_id: jobId ?? work_job_id });
  });
  return commentId;
}
