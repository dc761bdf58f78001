import {
  type AnswerOf,
  type endpoints,
  PATCH_BYTES_MAX,
  type PatchBeginning,
} from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import { readWholeJob } from '../jobs/store-whole.ts';
import type { UploadDeps } from './deps.ts';
import { readUpload, type UploadRow } from './store.ts';

type PatchView = AnswerOf<typeof endpoints.jobs.patch>;

interface PatchRequest {
  workspaceId: string;
  jobId: string;
  since?: PatchBeginning;
}

const OMITTED_MAX = 1_000_000;

/**
 * Reads the patch that the evidence of a job names. Evidence has any form, and the upload may have
 * gone, so an answer without a patch says why.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function readPatch(
  deps: UploadDeps,
  { workspaceId, jobId, since = 'work' }: PatchRequest,
): Promise<PatchView> {
  const { reader } = deps.database;
  const job = await readWholeJob(reader, workspaceId, jobId);
  if (job === undefined) throw new HubError('JOB_NOT_FOUND');
  const evidence = objectOf(job.evidence === null ? null : JSON.parse(job.evidence));
  const roundBaseSha = shaOf(evidence.roundBaseSha);
  // A first round begins where the work does.
  const isOfRound = since === 'round' && roundBaseSha !== null;
  const shared = objectOf(isOfRound ? evidence.roundPatch : evidence.patch);
  const baseSha = isOfRound ? roundBaseSha : shaOf(evidence.baseSha);
  const view = {
    patch: null,
    absence: null,
    filesOmitted: 0,
    baseSha,
    commitSha: shaOf(evidence.commitSha),
  };
  if (typeof shared.uploadId !== 'string') return { ...view, absence: 'not_shared' };
  const upload = await readUpload(reader, workspaceId, shared.uploadId);
  if (upload?.status !== 'stored') return { ...view, absence: 'deleted' };
  // Otherwise an agent could show any upload of the workspace as the patch of its job.
  const patch = upload.job_id === jobId ? await readText(deps, upload) : null;
  if (patch === null) return { ...view, absence: 'unusable' };
  return { ...view, patch, filesOmitted: countOf(shared.filesOmitted) };
}

/** Returns null unless the bytes are there, and are UTF-8 of a bounded size. */
async function readText(deps: UploadDeps, upload: UploadRow): Promise<string | null> {
  if (upload.size_bytes > PATCH_BYTES_MAX || upload.object_key === null) return null;
  const body = await deps.byteStore.read(upload.object_key, null);
  if (body === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    return null;
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function shaOf(value: unknown): string | null {
  return typeof value === 'string' && /^[0-9a-f]{1,64}$/.test(value) ? value : null;
}

function countOf(value: unknown): number {
  const isCount = Number.isInteger(value) && Number(value) >= 0;
  return isCount ? Math.min(Number(value), OMITTED_MAX) : 0;
}
