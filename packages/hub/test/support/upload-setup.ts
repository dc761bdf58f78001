import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { endpoints, type RequestOf, type ResponseOf } from '@signalbox/contract';
import type { HomeWorld, TestWorkspace } from './home-world.ts';

const { uploads } = endpoints;

export const sha256Of = (bytes: Uint8Array | string): string => hash('sha256', bytes);

/** The answer to a PUT. */
export interface PutAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** Sends bytes to a signed URL, as any client would. */
export async function putBytes(
  url: string,
  bytes: Uint8Array | string,
  headers: Record<string, string> = {},
): Promise<PutAnswer> {
  const body = typeof bytes === 'string' ? bytes : new Uint8Array(bytes);
  const response = await fetch(url, { method: 'PUT', body, headers });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
  };
}

/** A deterministic body of any size that repeats nowhere nearby. */
export function makeBytes(sizeBytes: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  let state = seed >>> 0 || 1;
  for (let at = 0; at < sizeBytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

type Draft = Partial<RequestOf<typeof uploads.create>>;

export function announce(
  harness: HomeWorld,
  sizeBytes: number,
  draft: Draft = {},
  workspace: TestWorkspace = harness.home,
): Promise<ResponseOf<typeof uploads.create>> {
  return harness.call(
    uploads.create,
    {
      workspaceId: workspace.workspaceId,
      fileName: 'notes.txt',
      contentType: 'text/plain',
      sizeBytes,
      ...draft,
    },
    workspace.token,
  );
}

/** Announces and sends; answers the upload's id. */
export async function upload(
  harness: HomeWorld,
  bytes: Uint8Array | string,
  draft: Draft = {},
  workspace: TestWorkspace = harness.home,
): Promise<string> {
  const buffer = Buffer.from(bytes);
  const { uploadId, uploadUrl } = await announce(harness, buffer.length, draft, workspace);
  const answer = await putBytes(uploadUrl, buffer);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return uploadId;
}

export function getDownload(
  harness: HomeWorld,
  uploadId: string,
  workspace: TestWorkspace = harness.home,
): Promise<ResponseOf<typeof uploads.getDownloadUrl>> {
  const { workspaceId, token } = workspace;
  return harness.call(uploads.getDownloadUrl, { workspaceId, uploadId }, token);
}

/** Every file of the byte store, complete or partial. */
export function listFiles({ dataDir }: HomeWorld): string[] {
  const found = readdirSync(join(dataDir, 'uploads'), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
