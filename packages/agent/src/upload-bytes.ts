import { createHash } from 'node:crypto';
import type { CallOptions } from '@signalbox/sdk';
import type { HubClient } from './hub-client.ts';

export interface UploadDraft {
  workspaceId: string;
  fileName: string;
  contentType: string;
  /** Without it, the upload belongs to the job of the client's token, if it has one. */
  job?: { jobId: string; agentId: string; claimGeneration?: number };
}

/** The store of the hub did not take the bytes. */
export class UploadError extends Error {
  override name = 'UploadError';
}

/**
 * Uploads bytes to the hub.
 *
 * @returns the upload's ID.
 * @throws {UploadError} the store of its bytes does not take them; the errors of the client.
 */
export async function uploadBytes(
  { uploads }: Pick<HubClient, 'uploads'>,
  draft: UploadDraft,
  bytes: Uint8Array<ArrayBuffer>,
  options: CallOptions & { signal: AbortSignal },
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const body = { ...draft, sizeBytes: bytes.length, sha256 };
  const { uploadId, uploadUrl } = await uploads.create(body, options);
  const { signal, timeoutMs } = options;
  const limit = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  let answer: Response;
  try {
    const put = { method: 'PUT', body: bytes, signal: AbortSignal.any([signal, ...limit]) };
    answer = await fetch(uploadUrl, put);
  } catch (error) {
    if (signal.aborted) throw error;
    const { cause } = error as Error;
    const why = cause instanceof Error ? cause.message : (error as Error).message;
    throw new UploadError(`The address for its bytes does not answer: ${why}.`, { cause: error });
  }
  await answer.body?.cancel();
  if (!answer.ok) throw new UploadError(`The upload ended with HTTP ${answer.status}.`);
  return uploadId;
}
