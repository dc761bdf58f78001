import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, SIGNED_URL_MS } from '@signalbox/contract';
import { assertNothingLeaks } from '../support/api-scenario.ts';
import { startApiWorld } from '../support/api-world.ts';
import { anonymize, exchange } from '../support/http-exchange.ts';
import {
  announce,
  getDownload,
  makeBytes,
  putBytes,
  sha256Of,
  upload,
} from '../support/upload-setup.ts';

const { uploads } = endpoints;

/** A signed URL with some of its parameters replaced, or removed (null). */
function altered(url: string, changes: Record<string, string | null>): string {
  const next = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  }
  return next.href;
}

test('a signed URL grants one object and method for ten minutes, and only unaltered', async (t) => {
  const world = await startApiWorld(t);
  const mine = await upload(world, 'mine');
  const second = await upload(world, 'second');
  const { downloadUrl, expiresAt } = await getDownload(world, mine);
  const { uploadUrl } = await announce(world, 4);
  const signature = new URL(downloadUrl).searchParams.get('signature') ?? '';
  const otherHub = await startApiWorld(t);
  const foreignUrl = (await getDownload(otherHub, await upload(otherHub, 'mine'))).downloadUrl;

  const refused: [what: string, method: string, url: string][] = [
    ['another upload', 'GET', altered(downloadUrl, { uploadId: second })],
    ['another workspace', 'GET', altered(downloadUrl, { workspaceId: world.other.workspaceId })],
    ['a later expiry', 'GET', altered(downloadUrl, { expiresAt: '2036-01-01T00:00:00.000Z' })],
    [
      'the same expiry in another notation',
      'GET',
      altered(downloadUrl, { expiresAt: expiresAt.replace('Z', '+00:00') }),
    ],
    ['an invalid expiry', 'GET', altered(downloadUrl, { expiresAt: 'never' })],
    ['a higher limit', 'GET', altered(downloadUrl, { signature: signature.replace(/^\d+/, '5') })],
    ['another signature', 'GET', altered(downloadUrl, { signature: `4.${'A'.repeat(43)}` })],
    ['half a signature', 'GET', altered(downloadUrl, { signature: signature.slice(0, 20) })],
    ['no signature', 'GET', altered(downloadUrl, { signature: null })],
    ['no upload', 'GET', altered(downloadUrl, { uploadId: null })],
    ['a parameter twice', 'GET', `${downloadUrl}&uploadId=${second}`],
    ['the URL of an upload', 'GET', uploadUrl.replace('store-bytes', 'read-bytes')],
    ['the URL of a download', 'PUT', downloadUrl.replace('read-bytes', 'store-bytes')],
    ['the key of another hub', 'GET', new URL(new URL(foreignUrl).search, downloadUrl).href],
  ];
  for (const [what, method, url] of refused) {
    const { pathname, search } = new URL(url);
    const answer = await exchange(world.hub.baseUrl, {
      method,
      path: pathname + search,
      // A bearer token does not help.
      token: world.home.token,
      ...(method === 'PUT' ? { body: 'mine', headers: { 'content-type': 'text/plain' } } : {}),
    });
    assert.equal(answer.status, 401, `${what}: ${answer.text}`);
    assert.equal(answer.body.error, 'SIGNED_URL_INVALID', what);
    assertNothingLeaks(answer);
  }
  assert.equal(await (await fetch(downloadUrl)).text(), 'mine');
  world.clock.advance(SIGNED_URL_MS - 1);
  assert.equal((await fetch(downloadUrl)).status, 200);
  world.clock.advance(1);
  assert.equal((await fetch(downloadUrl)).status, 401);
  assert.equal((await putBytes(uploadUrl, 'late')).body.error, 'SIGNED_URL_INVALID');
});

test('an upload is found only in its own workspace, and unknown and foreign ids get the same answer', async (t) => {
  const world = await startApiWorld(t);
  const foreign = await upload(world, 'canary-5f1c2e', { fileName: 'canary-5f1c2e' }, world.other);
  const ask = (workspaceId: string, uploadId: string, token: string) =>
    exchange(world.hub.baseUrl, {
      path: uploads.getDownloadUrl.path,
      token,
      body: { workspaceId, uploadId },
    });
  const { workspaceId, token } = world.home;
  const unknown = await ask(workspaceId, 'upl_none', token);
  const answer = await ask(workspaceId, foreign, token);
  assert.equal(answer.body.error, 'UPLOAD_NOT_FOUND');
  assert.deepEqual(anonymize(answer), anonymize(unknown));
  assertNothingLeaks(answer);
  const inside = await ask(world.other.workspaceId, foreign, token);
  assert.equal(inside.body.error, 'WORKSPACE_NOT_FOUND');
});

test('a job token reads only the uploads of its job and run', async (t) => {
  const world = await startApiWorld(t);
  const { workspaceId } = world.home;
  const job = await world.startJob();
  const asTool = { ...world.home, token: job.jobToken };
  const own = await upload(world, 'own', {}, asTool);
  assert.equal((await getDownload(world, own, asTool)).sizeBytes, 3);
  const others = await upload(world, 'of others');
  const body = { workspaceId, uploadId: others };
  await world.refuse(uploads.getDownloadUrl, body, 'UPLOAD_NOT_FOUND', job.jobToken);
  await world.refuse(
    uploads.getDownloadUrl,
    { workspaceId, uploadId: own },
    'UPLOAD_NOT_FOUND',
    world.held.jobToken,
  );
  assert.equal((await getDownload(world, own)).sizeBytes, 3);
});

test('a job token reads the requirement document that its job names', async (t) => {
  const world = await startApiWorld(t);
  const document = await upload(world, 'as a person asked');
  const asToolOf = async (prompt: string) => {
    const { jobToken: token } = await world.startJob({ prompt });
    return { ...world.home, token };
  };
  const named = await asToolOf(`Build what ${document} asks for.`);
  assert.equal((await getDownload(world, document, named)).sizeBytes, 17);
  const { workspaceId, token } = await asToolOf('Build something.');
  const body = { workspaceId, uploadId: document };
  await world.refuse(uploads.getDownloadUrl, body, 'UPLOAD_NOT_FOUND', token);
});

test('ranges are served according to RFC 9110', async (t) => {
  const world = await startApiWorld(t);
  const bytes = makeBytes(1_000);
  const { downloadUrl } = await getDownload(world, await upload(world, bytes));
  const etag = `"${sha256Of(bytes)}"`;
  const rows: [headers: Record<string, string>, status: number, first: number, last: number][] = [
    [{}, 200, 0, 999],
    [{ range: 'bytes=0-0' }, 206, 0, 0],
    [{ range: 'bytes=10-19' }, 206, 10, 19],
    [{ range: 'Bytes=10-19' }, 206, 10, 19],
    [{ range: 'bytes=990-' }, 206, 990, 999],
    [{ range: 'bytes=999-5000' }, 206, 999, 999],
    [{ range: 'bytes=-1' }, 206, 999, 999],
    [{ range: 'bytes=-5000' }, 206, 0, 999],
    [{ range: 'bytes=1000-' }, 416, 0, -1],
    [{ range: 'bytes=99999999999999999999-' }, 416, 0, -1],
    [{ range: 'bytes=-0' }, 416, 0, -1],
    [{ range: 'bytes=19-10' }, 200, 0, 999],
    [{ range: 'bytes=-' }, 200, 0, 999],
    [{ range: 'bytes=a-b' }, 200, 0, 999],
    [{ range: 'lines=1-2' }, 200, 0, 999],
    [{ range: 'bytes=0-1,5-6' }, 200, 0, 999],
    [{ range: 'bytes=10-19', 'if-range': etag }, 206, 10, 19],
    [{ range: 'bytes=10-19', 'if-range': `W/${etag}` }, 200, 0, 999],
    [{ range: 'bytes=10-19', 'if-range': '"other"' }, 200, 0, 999],
    [{ range: 'bytes=10-19', 'if-range': 'Mon, 02 Nov 2026 09:00:00 GMT' }, 200, 0, 999],
    [{ range: 'bytes=5000-', 'if-range': '"other"' }, 200, 0, 999],
  ];
  for (const [headers, status, first, last] of rows) {
    const response = await fetch(downloadUrl, { headers });
    const what = JSON.stringify(headers);
    assert.equal(response.status, status, what);
    if (status === 416) {
      assert.equal(response.headers.get('content-range'), 'bytes */1000', what);
      const { error } = (await response.json()) as { error: string };
      assert.equal(error, 'RANGE_NOT_SATISFIABLE');
      continue;
    }
    const body = Buffer.from(await response.arrayBuffer());
    assert.deepEqual(body, bytes.subarray(first, last + 1), what);
    assert.equal(response.headers.get('content-length'), String(last - first + 1), what);
    const range = response.headers.get('content-range');
    assert.equal(range, status === 206 ? `bytes ${first}-${last}/1000` : null, what);
  }
  const head = await fetch(downloadUrl, { method: 'HEAD', headers: { range: 'bytes=0-1' } });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '1000']);
  assert.equal((await head.arrayBuffer()).byteLength, 0);
  const post = await fetch(downloadUrl, { method: 'POST' });
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
  const get = await fetch(downloadUrl.replace('read-bytes', 'store-bytes'));
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'PUT']);
});
