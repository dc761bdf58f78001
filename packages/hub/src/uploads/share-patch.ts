import type { endpoints, PatchRequest, RequestInput, SharedPatch } from '@signalbox/contract';
import { findWaitingRequest, presentPatchRequest } from '../agents/patch-requests.ts';
import { updateAnswered } from '../agents/store-patch-requests.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { commitOf } from '../jobs/policy.ts';
import { type JobRecord, requireJobOfAgent } from '../jobs/require-job.ts';
import { updateJob } from '../jobs/store.ts';
import { asObject } from '../queue/matching.ts';
import type { UploadDeps } from './deps.ts';
import { readUpload } from './store.ts';

type ShareInput = RequestInput<typeof endpoints.jobs.sharePatch.request>;

/**
 * Names the patch of an ended job in its evidence, or keeps why its agent does not share it. The
 * job has no lease any more: the fence is the request, which waits for this agent.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, INVALID_REQUEST
 */
export function sharePatch(
  { database }: Pick<UploadDeps, 'database'>,
  principal: Principal,
  input: ShareInput,
): Promise<PatchRequest> {
  const { workspaceId, patch, refusal } = input;
  if ((patch === undefined) === (refusal === undefined)) {
    throw invalidField('/patch', 'or refusal is needed, not both');
  }
  return database.write(workspaceId, async (tx) => {
    const record = await requireJobOfAgent(tx, principal, input);
    const request = await findWaitingRequest(tx, input);
    if (request === null) {
      const why = 'No request waits for this agent to share the patch of the job.';
      throw new HubError('INVALID_REQUEST', why);
    }
    if (patch !== undefined) await addPatch(tx, record, input, patch);
    const answered = { ...request, answered_at: tx.nowMs, refusal: refusal ?? null };
    await updateAnswered(tx, answered);
    return presentPatchRequest(answered);
  });
}

/** @throws HubError INVALID_REQUEST: the patch is of another commit, or was not uploaded for it. */
async function addPatch(
  tx: Tx,
  { row }: JobRecord,
  { commitSha, roundPatch }: ShareInput,
  patch: SharedPatch,
): Promise<void> {
  const known = commitOf(row);
  if (known === null || known !== commitSha) {
    const now = known === null ? 'none' : known.slice(0, 12);
    throw invalidField('/commitSha', `must be the commit of the job: ${now}`);
  }
  await requireUpload(tx, row, '/patch/uploadId', patch);
  if (roundPatch !== undefined) await requireUpload(tx, row, '/roundPatch/uploadId', roundPatch);
  const shared = { patch, ...(roundPatch === undefined ? {} : { roundPatch }) };
  const evidence = { ...asObject(JSON.parse(row.evidence ?? 'null')), ...shared };
  await updateJob(tx, row, { evidence: JSON.stringify(evidence) });
}

async function requireUpload(
  tx: Tx,
  { workspace_id, job_id }: JobRecord['row'],
  field: string,
  { uploadId }: SharedPatch,
): Promise<void> {
  const upload = await readUpload(tx, workspace_id, uploadId);
  if (upload?.status === 'stored' && upload.job_id === job_id) return;
  throw invalidField(field, 'must be a completed upload for this job');
}
