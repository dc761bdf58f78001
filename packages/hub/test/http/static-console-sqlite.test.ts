import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Config } from '../../src/start/config.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';

const PAGE = '<!doctype html><title>Console</title>';
const SCRIPT = `console.log(${'1 + '.repeat(500)}1)`;

async function setup(t: TestContext, config: Partial<Config> = {}) {
  const folder = makeTempDir(t);
  const consoleDir = join(folder, 'console');
  mkdirSync(join(consoleDir, 'assets'), { recursive: true });
  writeFileSync(join(consoleDir, 'index.html'), PAGE);
  writeFileSync(join(consoleDir, 'favicon.svg'), '<svg/>');
  writeFileSync(join(consoleDir, 'assets', 'index-Bx3f.js'), SCRIPT);
  writeFileSync(join(consoleDir, 'assets', 'inter.woff2'), 'font');
  mkdirSync(join(consoleDir, 'docs', 'start'), { recursive: true });
  for (const name of ['index', 'start/codex', '404']) {
    writeFileSync(join(consoleDir, 'docs', `${name}.html`), `<title>${name}</title>`);
  }
  writeFileSync(join(consoleDir, 'docs', 'start', 'codex.md'), '# Codex');
  writeFileSync(join(folder, 'secret.txt'), 'not for the web');
  return startTestHub(t, { consoleDir, config });
}

function open(hub: TestHub, path: string, headers: Record<string, string> = {}) {
  return fetch(hub.address + path, { headers: { accept: 'text/html,*/*', ...headers } });
}

test('the page is served under every path of the console, with its policy', async (t) => {
  const hub = await setup(t);
  for (const path of [
    '/',
    '/sign-in',
    '/device?id=dev_1',
    '/w/acme/jobs/job_1',
    '/control-planes',
  ]) {
    const response = await open(hub, path);
    assert.equal(await response.text(), PAGE, path);
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-cache');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(response.headers.get('access-control-allow-origin'), null);
    const policy = response.headers.get('content-security-policy') ?? '';
    const directives = new Map(policy.split('; ').map((part) => [part.split(' ')[0], part]));
    assert.equal(directives.get('default-src'), "default-src 'none'");
    assert.equal(directives.get('frame-ancestors'), "frame-ancestors 'none'");
    assert.equal(directives.get('script-src'), "script-src 'self'");
    assert.doesNotMatch(policy, /unsafe|\*|data:|https?:/);
  }
});

test('the page may upload to the object store, and to no other address', async (t) => {
  const s3 = {
    endpoint: 'https://store.example:9000',
    bucket: 'files',
    region: 'us-east-1',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    forcePathStyle: false,
  };
  const hub = await setup(t, { s3 });
  const response = await open(hub, '/');
  const policy = response.headers.get('content-security-policy') ?? '';
  const connect = policy.split('; ').find((part) => part.startsWith('connect-src'));
  assert.equal(connect, "connect-src 'self' https://files.store.example:9000");
});

test('programs get errors as JSON, never the page', async (t) => {
  const hub = await setup(t);
  const rows: [method: string, path: string, accept: string, status: number][] = [
    ['GET', '/control-plane/unknown', 'text/html', 404],
    ['GET', '/console-api/v1/unknown', 'text/html', 404],
    ['GET', '/integrations', 'text/html', 404],
    ['GET', '/control-plane/v1/jobs/list', 'text/html', 405],
    ['GET', '/sign-in', 'application/json', 404],
    ['POST', '/sign-in', 'text/html', 404],
    ['GET', '/missing.js', 'text/html', 404],
    ['GET', '/assets/index-old.js', '*/*', 404],
  ];
  for (const [method, path, accept, status] of rows) {
    const response = await fetch(hub.address + path, { method, headers: { accept } });
    const body = (await response.json()) as { ok: boolean };
    assert.deepEqual([response.status, body.ok], [status, false], `${method} ${path}`);
  }
});

test('assets are cached as immutable, compressed on request, and revalidated by ETag', async (t) => {
  const hub = await setup(t);
  const path = '/assets/index-Bx3f.js';
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', null],
  ] as const) {
    const response = await open(hub, path, { 'accept-encoding': accepted });
    assert.equal(response.headers.get('content-encoding'), encoding);
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(response.headers.get('vary'), 'accept-encoding');
    assert.equal(await response.text(), SCRIPT);
  }
  const font = await open(hub, '/assets/inter.woff2');
  assert.equal(font.headers.get('content-encoding'), null, 'fonts are compressed already');
  const etag = (await open(hub, '/')).headers.get('etag') ?? '';
  const unchanged = await open(hub, '/', { 'if-none-match': etag });
  assert.deepEqual([unchanged.status, await unchanged.text()], [304, '']);
});

test('a HEAD request gets only the headers', async (t) => {
  const hub = await setup(t);
  const response = await fetch(`${hub.address}/`, { method: 'HEAD' });
  assert.deepEqual([response.status, await response.text()], [200, '']);
});

test('no path leads outside the folder', async (t) => {
  const hub = await setup(t);
  for (const path of [
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '//secret.txt',
    '/%00',
    '/%ff',
  ]) {
    const answer = await sendRaw(hub, path);
    assert.match(answer, /^HTTP\/1\.1 (404|400) /, path);
    assert.equal(answer.includes('not for the web'), false, path);
  }
});

test('without a build a plain page says how to build the console', async (t) => {
  for (const consoleDir of ['', join(makeTempDir(t), 'not-built')]) {
    const hub = await startTestHub(t, { consoleDir });
    const response = await open(hub, '/');
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.match(await response.text(), /npm start/);
  }
});

/** Sends a path unchanged, because clients normalize `..`. */
async function sendRaw(hub: TestHub, path: string): Promise<string> {
  const { port } = new URL(hub.address);
  const socket = connect(Number(port), '127.0.0.1');
  socket.end(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return Buffer.concat(await socket.toArray()).toString('utf8');
}

test('the documentation has a page for each path, without its ending, and an own page for missing ones', async (t) => {
  const hub = await setup(t);
  const rows = [
    ['/docs', 200, '<title>index</title>', 'text/html; charset=utf-8'],
    ['/docs/', 200, '<title>index</title>', 'text/html; charset=utf-8'],
    ['/docs/start/codex', 200, '<title>start/codex</title>', 'text/html; charset=utf-8'],
    ['/docs/start/codex.md', 200, '# Codex', 'text/markdown; charset=utf-8'],
    ['/docs/start/other', 404, '<title>404</title>', 'text/html; charset=utf-8'],
  ] as const;
  for (const [path, status, text, contentType] of rows) {
    const response = await open(hub, path);
    assert.equal(response.status, status, path);
    assert.equal(await response.text(), text, path);
    assert.equal(response.headers.get('content-type'), contentType, path);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/, path);
  }
});
