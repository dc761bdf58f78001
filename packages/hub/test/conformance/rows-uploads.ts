import assert from 'node:assert/strict';
import { type ConformanceRow, rowsOf } from './row.ts';
import type { SpecClient } from './spec-client.ts';

const getDownloadUrl = '/control-plane/v1/uploads/get-download-url';
const bytes = 'The button is red.';

/** An upload; the specification leaves open how files come into the hub. */
async function prepare(spec: SpecClient): Promise<{ workspaceId: string; uploadId: string }> {
  const { workspaceId } = spec;
  const { uploadId, uploadUrl } = await spec.ok('/control-plane/v1/uploads/create', {
    workspaceId,
    fileName: 'requirements.txt',
    contentType: 'text/plain',
    sizeBytes: bytes.length,
  });
  const stored = await fetch(uploadUrl, { method: 'PUT', body: bytes });
  assert.equal(stored.status, 200);
  return { workspaceId, uploadId };
}

async function download(spec: SpecClient): Promise<Response> {
  const { downloadUrl } = await spec.ok(getDownloadUrl, await prepare(spec));
  // Without a token: the URL is sufficient.
  return fetch(downloadUrl);
}

export const uploadServiceRows: ConformanceRow[] = rowsOf('What the service does', [
  [
    'service-uploads-1',
    'Get temporary download URLs for uploaded files.',
    async (spec) => {
      const response = await download(spec);
      assert.equal(await response.text(), bytes);
    },
  ],
]);

export const uploadResourceRows: ConformanceRow[] = rowsOf('Resources and their fields', [
  [
    'resources-uploads-1',
    'Upload: uploadId (string), workspaceId (string). A temporary download URL is obtained for ' +
      'an upload; it is used to fetch requirement-document attachments into the local repository ' +
      'during job execution.',
    async (spec) => {
      const upload = await prepare(spec);
      assert.equal(typeof upload.uploadId, 'string');
      const { expiresAt } = await spec.ok(getDownloadUrl, upload);
      assert.ok(Date.parse(expiresAt) > 0, 'it is temporary');
    },
  ],
]);

export const uploadEndpointRows: ConformanceRow[] = rowsOf('Endpoints', [
  [
    'endpoints-uploads-1',
    'POST /control-plane/v1/uploads/get-download-url: workspaceId, uploadId; returns a temporary ' +
      'download URL.',
    async (spec) => {
      const response = await download(spec);
      assert.equal(response.status, 200);
      assert.equal(await response.text(), bytes);
    },
  ],
]);
