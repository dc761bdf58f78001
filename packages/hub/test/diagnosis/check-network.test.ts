import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { checkAddress, checkTls } from '../../src/diagnosis/check-network.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const HOST = '127.0.0.1';

/** Starts a proxy with TLS on loopback; this process trusts its certificate during the test. */
async function startTls(t: TestContext, { days, status = 200 }: { days: number; status?: number }) {
  const dir = makeTempDir(t);
  const files = { key: join(dir, 'key.pem'), cert: join(dir, 'cert.pem') };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const out = ['-keyout', files.key, '-out', files.cert, '-days', String(days)];
  execFileSync('openssl', ['req', '-x509', ...key, ...out, ...name], { stdio: 'ignore' });
  const cert = readFileSync(files.cert, 'utf8');
  const server: Server = createServer({ cert, key: readFileSync(files.key) }, (_, reply) => {
    reply.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, cert]);
  t.after(() => setDefaultCACertificates(trusted));
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `https://localhost:${port}`, otherName: `https://${HOST}:${port}` };
}

test('a certificate that is valid for long is fine', async (t) => {
  const { baseUrl } = await startTls(t, { days: 91 });
  const { state, message } = await checkTls({ baseUrl, host: HOST });
  assert.equal(state, 'ok');
  assert.match(message, /^the certificate of localhost:\d+ is valid for 9[01] more days$/);
  assert.equal((await checkAddress({ baseUrl, host: HOST }, { isPublic: true })).state, 'ok');
});

test('a certificate that ends within two weeks is to be renewed', async (t) => {
  const { baseUrl } = await startTls(t, { days: 10 });
  const { state, message } = await checkTls({ baseUrl, host: HOST });
  assert.equal(state, 'warning');
  assert.match(message, / is valid for (9|10) more days: renew it\.$/);
});

test('a certificate for another name is refused', async (t) => {
  const { otherName } = await startTls(t, { days: 91 });
  await assert.rejects(
    checkTls({ baseUrl: otherName, host: HOST }),
    /has no valid certificate \(.*altnames.*\): mend it in the proxy\.$/,
  );
});

test('an address that leads to something else than a hub is refused', async (t) => {
  const { baseUrl } = await startTls(t, { days: 91, status: 502 });
  await assert.rejects(
    checkAddress({ baseUrl, host: HOST }, { isPublic: true }),
    /answers with status 502, but not as a hub: lead it to the hub\.$/,
  );
});

test('plain HTTP is fine on this machine only', async () => {
  const judge = async (baseUrl: string) => (await checkTls({ baseUrl, host: HOST })).state;
  assert.equal(await judge('http://127.0.0.1:4400'), 'ok');
  assert.equal(await judge('http://[::1]:4400'), 'ok');
  assert.equal(await judge('http://signalbox.acme.dev'), 'warning');
});
