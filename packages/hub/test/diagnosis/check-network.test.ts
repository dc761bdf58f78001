import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  checkAddress,
  checkReplies,
  checkSlack,
  checkSmtp,
  checkTls,
} from '../../src/diagnosis/check-network.ts';
import { makeCertificate, trustCertificate } from '../support/certificate.ts';
import { startDovecot, whyNoDovecot } from '../support/dovecot.ts';
import { startSmtpReceiver } from '../support/smtp-receiver.ts';

const HOST = '127.0.0.1';

/** Starts a proxy with TLS on loopback; this process trusts its certificate during the test. */
async function startTls(t: TestContext, { days, status = 200 }: { days: number; status?: number }) {
  const { cert, key } = makeCertificate(t, 'DNS:localhost', days);
  const server: Server = createServer({ cert, key }, (_, reply) => {
    reply.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  trustCertificate(t, cert);
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

test('a mail server is signed in to, and one that refuses that is named', async (t) => {
  const { smtp } = await startSmtpReceiver(t);
  const place = `127.0.0.1:${smtp.port}`;
  assert.deepEqual(await checkSmtp({ smtp }), { state: 'ok', message: `${place} takes mail` });
  const auth = { user: 'hub', pass: 'wrong' };
  await assert.rejects(
    checkSmtp({ smtp: { ...smtp, auth } }),
    /^Error: 127\.0\.0\.1:\d+ takes no mail \(.*535.*\): check SVC_SMTP_URL\.$/s,
  );
});

test('the mailbox of replies is opened, and what prevents that is said', {
  skip: whyNoDovecot(),
}, async (t) => {
  const { port, user, password: pass } = await startDovecot(t);
  const replyMailbox = {
    host: 'localhost',
    port,
    tls: 'none' as const,
    auth: { user, pass },
    mailbox: 'INBOX',
    authServId: 'mx.acme.dev',
  };
  const place = `localhost:${port}`;
  const verdict = await checkReplies({ replyMailbox });
  assert.deepEqual(verdict, { state: 'ok', message: `INBOX at ${place} can be opened` });
  await assert.rejects(
    checkReplies({ replyMailbox: { ...replyMailbox, mailbox: 'Nowhere' } }),
    /^Error: Nowhere at localhost:\d+ cannot be opened \(.*Nowhere.*\): check SVC_IMAP_URL\.$/,
  );
  await assert.rejects(
    checkReplies({ replyMailbox: { ...replyMailbox, auth: { user, pass: 'wrong' } } }),
    /cannot be opened \(.+\): check SVC_IMAP_URL\.$/,
  );
});

test('Slack is asked whether it accepts the token of the app', async (t) => {
  const answers = [
    { ok: true, team: 'Acme', user: 'signalbox' },
    { ok: false, error: 'invalid_auth' },
  ];
  const server = createHttpServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers.shift()));
  }).listen(0, HOST);
  await once(server, 'listening');
  t.after(() => server.close());
  const apiUrl = `http://${HOST}:${(server.address() as AddressInfo).port}/api/`;
  const slack = { botToken: 'xoxb-1', appToken: 'xapp-1', signingSecrets: [], apiUrl };
  assert.deepEqual(await checkSlack({ slack }), { state: 'ok', message: 'signalbox in Acme' });
  await assert.rejects(checkSlack({ slack }), /invalid_auth.*SVC_SLACK_BOT_TOKEN/);
});
