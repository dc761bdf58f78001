import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';
import { upload } from '../support/upload-setup.ts';

const { uploads } = endpoints;
const SIZE_BYTES_MAX = 104_857_600;

const draft = { fileName: 'rules.pdf', contentType: 'application/pdf', sizeBytes: 10 };
const inHome = (fields: Record<string, unknown>) => (world: World) => ({
  workspaceId: world.home.workspaceId,
  ...fields,
});

runScenarios('uploads/create', [
  {
    name: 'returns a URL of this hub that is valid for ten minutes',
    endpoint: uploads.create,
    body: inHome(draft),
    expect: {
      check(body, { hub, clock }) {
        const url = new URL(String(body.uploadUrl));
        assert.equal(url.origin + url.pathname, hub.baseUrl + uploads.storeBytes.path);
        assert.equal(url.searchParams.get('uploadId'), body.uploadId);
        assert.equal(Date.parse(String(body.expiresAt)), clock.nowMs() + 600_000);
      },
    },
  },
  ...(
    [
      ['fileName', ''],
      ['fileName', '../../etc/passwd'],
      ['fileName', 'a\\b'],
      ['fileName', 'a\r\nset-cookie: b'],
      ['fileName', 'x'.repeat(256)],
      ['contentType', 'pdf'],
      ['contentType', 'text/html\r\nx: y'],
      ['sizeBytes', -1],
      ['sizeBytes', 1.5],
      ['sizeBytes', SIZE_BYTES_MAX + 1],
      ['sha256', 'A'.repeat(64)],
      ['sha256', 'abc'],
    ] as const
  ).map(([field, value]) => ({
    name: `refuses ${field} ${JSON.stringify(value).slice(0, 40)}`,
    endpoint: uploads.create,
    body: inHome({ ...draft, [field]: value }),
    expect: { error: 'INVALID_REQUEST' as const, contains: [`/${field}`] },
  })),
  ...['fileName', 'contentType', 'sizeBytes'].map((field) => ({
    name: `refuses a request without ${field}`,
    endpoint: uploads.create,
    body: inHome({ ...draft, [field]: undefined }),
    expect: { error: 'INVALID_REQUEST' as const, contains: [`/${field}`] },
  })),
]);

runScenarios('uploads/get-download-url', [
  {
    name: 'describes the file',
    endpoint: uploads.getDownloadUrl,
    credential: 'viewer',
    body: async (world) => ({
      workspaceId: world.home.workspaceId,
      uploadId: await upload(world, 'ten bytes!', draft),
    }),
    expect: { body: { ...draft }, absent: ['objectKey', 'createdBy', '/objects/'] },
  },
  {
    name: 'refuses an unknown upload',
    endpoint: uploads.getDownloadUrl,
    body: inHome({ uploadId: 'upl_none' }),
    expect: { error: 'UPLOAD_NOT_FOUND' },
  },
  {
    name: 'refuses a request without an upload',
    endpoint: uploads.getDownloadUrl,
    body: inHome({}),
    expect: { error: 'INVALID_REQUEST', contains: ['/uploadId'] },
  },
]);

runScenarios('the bytes of uploads', [
  ...(['store-bytes', 'read-bytes'] as const).map((verb) => ({
    name: `${verb} accepts no token`,
    endpoint: {
      method: verb === 'store-bytes' ? 'PUT' : 'GET',
      path: `/control-plane/v1/uploads/${verb}`,
    },
    expect: { error: 'SIGNED_URL_INVALID' as const },
  })),
]);
