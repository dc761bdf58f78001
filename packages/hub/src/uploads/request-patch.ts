import type { ChangesPlace } from '@signalbox/contract';
import { findChangesPlace, presentPlace } from '../agents/patch-requests.ts';
import { writePatchRequest } from '../agents/store-patch-requests.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { commitOf } from '../jobs/policy.ts';
import { type JobRecord, requireJob } from '../jobs/require-job.ts';
import { asObject } from '../queue/matching.ts';
import type { UploadDeps } from './deps.ts';
import { readUpload } from './store.ts';

/**
 * Asks the agent of an ended job for its patch. A request that waits stays as it is.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST
 */
export function requestPatch(
  { database }: Pick<UploadDeps, 'database'>,
  { principalId, displayName }: Principal,
  { workspaceId, jobId }: { workspaceId: string; jobId: string },
): Promise<ChangesPlace> {
  return database.write(workspaceId, async (tx) => {
    const { entry, row } = await requireJob(tx, workspaceId, jobId);
    if (entry.status !== 'done' && entry.status !== 'failed') {
      const why = entry.status === 'canceled' ? 'was canceled' : 'has not ended';
      throw new HubError('INVALID_REQUEST', `The job ${why}: it has no result to share.`);
    }
    if (commitOf(row) === null) {
      throw new HubError('INVALID_REQUEST', 'The job has no commit: there is nothing to share.');
    }
    await requireAbsent(tx, row);
    const ended = { workspaceId, jobId, repoId: row.repo_id, agentId: entry.agent_id };
    const place = await findChangesPlace(tx, ended);
    if (place === null) {
      throw new HubError('INVALID_REQUEST', 'The agent of the job is not known any more.');
    }
    const { agent, request, onRequest } = place;
    if (!onRequest) {
      const way = 'who runs it can set share.changes to on-request in its configuration';
      const why = `The agent ${agent.display_name} shares no changes on request`;
      throw new HubError('INVALID_REQUEST', `${why}: ${way}.`);
    }
    const isWaiting = request?.answered_at === null && request.agent_id === agent.agent_id;
    if (isWaiting) return presentPlace(place, tx.nowMs);
    const asked = {
      workspace_id: workspaceId,
      job_id: jobId,
      agent_id: agent.agent_id,
      asked_by_id: principalId,
      asked_by_name: displayName,
      asked_at: tx.nowMs,
      answered_at: null,
      refusal: null,
    };
    await writePatchRequest(tx, asked);
    await appendAudit(tx, {
      workspaceId,
      actor: principalId,
      action: 'job.request-patch',
      subject: jobId,
      data: { agentId: agent.agent_id },
    });
    return presentPlace({ ...place, request: asked }, tx.nowMs);
  });
}

/** @throws HubError INVALID_REQUEST: the hub has the patch. */
async function requireAbsent(tx: Tx, { workspace_id, evidence }: JobRecord['row']): Promise<void> {
  const { uploadId } = asObject(asObject(JSON.parse(evidence ?? 'null'))?.patch) ?? {};
  if (typeof uploadId !== 'string') return;
  const upload = await readUpload(tx, workspace_id, uploadId);
  if (upload?.status !== 'stored') return;
  throw new HubError('INVALID_REQUEST', 'The patch is shared already: look at the changes.');
}
