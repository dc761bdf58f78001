import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, consolePathOf } from '@signalbox/contract';
import type { SMTPServerOptions } from 'smtp-server';
import { sendMail } from '../../src/notifications/send-mail.ts';
import type { Config } from '../../src/start/config.ts';
import { makeCertificate, trustCertificate } from '../support/certificate.ts';
import { signInFirstOwner } from '../support/console-person.ts';
import { startDecisionWorld } from '../support/decision-world.ts';
import { startSmtpReceiver } from '../support/smtp-receiver.ts';
import { until } from '../support/until.ts';

const { notificationChannels, notifications } = consoleEndpoints;
const MINUTE_MS = 60_000;

/** A hub with a mail server, and a person of its workspace who is told by mail. */
async function startMailer(
  t: TestContext,
  smtpOf: Partial<Config['smtp'] & object> = {},
  options: SMTPServerOptions = {},
) {
  const server = await startSmtpReceiver(t, options);
  const h = await startDecisionWorld(t, { config: { smtp: { ...server.smtp, ...smtpOf } } });
  const person = await signInFirstOwner(h);
  const { call } = person;
  const { workspaceId, hub } = h;
  const draft = { workspaceId, kind: 'mail', name: 'Mail', events: ['decision'] } as const;
  const put = { ...draft, events: [...draft.events], showsText: true };
  await call(notificationChannels.put, put);
  return {
    ...h,
    server,
    person,
    put,
    own: async () => {
      const { channels } = await call(notificationChannels.list, { workspaceId });
      assert.ok(channels[0]);
      return { ...channels[0], count: channels.length };
    },
    told: async (uncertaintyId: string) =>
      (await call(notifications.list, { workspaceId, uncertaintyId })).notifications[0],
    tryIt: async () => {
      const { channels } = await call(notificationChannels.list, { workspaceId });
      const { channelId = '' } = channels[0] ?? {};
      return await call(notificationChannels.test, { workspaceId, channelId });
    },
    send: () => hub.loops.notifications.runOnce(),
  };
}

const hostile =
  'Drop it?\r\nBcc: eve@evil.example\r\n\r\n' +
  '<a href="https://evil.example/x">yes</a> https://evil.example/y';

test('a question is mailed to the account once, and its text becomes no header and no link', async (t) => {
  const h = await startMailer(t);
  const { uncertaintyId } = await h.ask({ prompt: hostile });
  await h.send();
  await h.send();
  assert.equal(h.server.mails.length, 1);
  const [{ to, text, mail }] = h.server.mails as [(typeof h.server.mails)[0]];
  assert.deepEqual(to, ['ada@acme.dev']);
  assert.equal(mail.subject, 'A job asks you');
  assert.deepEqual(mail.from, { name: 'Signalbox', address: 'signalbox@acme.dev' });
  assert.match(mail.messageId ?? '', /^<ntf_\w+@acme\.dev>$/);
  const [head = ''] = text.split('\r\n\r\n');
  const names = head.match(/^[\w-]+(?=:)/gm)?.map((name) => name.toLowerCase());
  assert.ok(!names?.includes('bcc') && !names?.includes('cc'), head);
  assert.match(head, /^Auto-Submitted: auto-generated$/m);
  const home = `${h.hub.baseUrl}/w/${h.home.slug}`;
  const settings = `${home}/settings/notifications`;
  const unsubscribe = mail.headers.find(({ key }) => key === 'list-unsubscribe');
  assert.equal(unsubscribe?.value, `<${settings}>`);
  const page = `${home}/inbox/${uncertaintyId}`;
  const hrefs = [...(mail.html ?? '').matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  assert.deepEqual(hrefs, [page, settings]);
  assert.deepEqual(mail.text?.match(/\bhttps?:\S+/g), [page, settings]);
  assert.match(mail.text ?? '', /^“Drop it\? Bcc: eve@\u200cevil\.\u200cexample /m);
  assert.equal((await h.told(uncertaintyId))?.state, 'sent');
});

test('a robot that opens, heads and submits every address of a mail answers nothing', async (t) => {
  const h = await startMailer(t);
  const { uncertaintyId } = await h.ask();
  await h.send();
  const text = h.server.mails[0]?.text ?? '';
  const plain = text.replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const addresses = new Set(plain.match(/\bhttps?:[^\s<>"]+/g));
  assert.ok([...addresses].some((address) => address.includes(uncertaintyId)));
  for (const address of addresses) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
      const hasBody = method === 'POST' || method === 'PUT';
      const body = hasBody ? new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) : null;
      await fetch(address, { method, body, redirect: 'manual' });
    }
  }
  const { status, resolution } = await h.read(uncertaintyId);
  assert.deepEqual([status, resolution], ['open', null]);
  assert.equal((await h.own()).stoppedAt, null);
});

test('a mail that is put off is sent again under the same message ID', async (t) => {
  const h = await startMailer(t);
  h.server.answerWith({ code: 451, words: '4.7.1 Greylisted, come again' });
  const { uncertaintyId } = await h.ask();
  await h.send();
  const failure = 'The mail server answered “451 4.7.1 Greylisted, come again”.';
  assert.equal((await h.own()).failure, failure);
  const waiting = await h.told(uncertaintyId);
  assert.deepEqual([waiting?.state, waiting?.failure], ['waiting', failure]);
  h.clock.advance(MINUTE_MS);
  await h.send();
  assert.equal(h.server.mails.length, 1);
  assert.equal((await h.told(uncertaintyId))?.state, 'sent');
  assert.equal((await h.own()).failure, null);
});

test('a server that refuses the address stops the channel with its words in one line', async (t) => {
  const h = await startMailer(t);
  const words = `5.1.1 No such user, see https://evil.example/${'x'.repeat(400)} or ${'y'.repeat(400)}`;
  h.server.answerWith({ code: 550, words });
  const { uncertaintyId } = await h.ask();
  await h.send();
  const { failure, stoppedAt } = await h.own();
  assert.ok(stoppedAt);
  assert.match(
    failure ?? '',
    /^The mail server refuses your address: “550 5\.1\.1 No such user, see \[link\] or y+…”\.$/,
  );
  assert.equal((await h.told(uncertaintyId))?.state, 'failed');
});

test('a server that refuses the hub stops no channel', async (t) => {
  const h = await startMailer(t, { auth: { user: 'hub', pass: 'wrong' } });
  // The server asks for no sign-in, so that it refuses each.
  const { uncertaintyId } = await h.ask();
  await h.send();
  const { failure, stoppedAt } = await h.own();
  assert.equal(stoppedAt, null);
  assert.match(
    failure ?? '',
    /The mail server refuses the hub: “535 .*Its operator corrects SVC_SMTP_URL\.$/,
  );
  assert.equal((await h.told(uncertaintyId))?.state, 'waiting');
});

test('a rule of the server about the hub stops no channel', async (t) => {
  const h = await startMailer(t);
  h.server.answerWith({ code: 554, words: '5.7.1 Relay access denied' });
  await h.ask();
  await h.send();
  assert.equal((await h.own()).stoppedAt, null);
  h.clock.advance(MINUTE_MS);
  await h.send();
  assert.equal(h.server.mails.length, 1);
});

test('without STARTTLS nothing is sent to another machine', async (t) => {
  const h = await startMailer(t, { tls: 'starttls' });
  const { delivered, failure } = await h.tryIt();
  assert.equal(delivered, false);
  assert.match(failure ?? '', /^No encrypted connection to the mail server/);
  assert.equal(h.server.asked(), 0);
});

test('a certificate that is not trusted gets no mail, and a trusted one gets it encrypted', async (t) => {
  const { cert, key } = makeCertificate(t, 'IP:127.0.0.1', 9);
  const h = await startMailer(t, { tls: 'starttls' }, { cert, key, disabledCommands: [] });
  const refused = 'No connection to the mail server: DEPTH_ZERO_SELF_SIGNED_CERT.';
  assert.equal((await h.tryIt()).failure, refused);
  assert.equal(h.server.asked(), 0);
  trustCertificate(t, cert);
  assert.deepEqual(await h.tryIt(), { ok: true, delivered: true, failure: null });
  assert.equal(h.server.mails[0]?.secure, true);
});

test('a server that hangs is left, and its connection closed', async (t) => {
  const server = await startSmtpReceiver(t);
  server.answerWith('nothing');
  const stop = new AbortController();
  const message = {
    id: 'ntf_1',
    event: 'test' as const,
    title: 'A job asks you',
    text: '“Go?”',
    atMs: 0,
    answer: null,
    choices: null,
    url: 'https://hub.acme.dev/w/acme/inbox',
    settingsUrl: 'https://hub.acme.dev/w/acme',
  };
  const sent = sendMail(server.smtp, 'ada@acme.dev', message, stop.signal);
  await until('the server was asked', () => server.asked() === 1);
  stop.abort();
  const delivery = await sent;
  assert.equal(delivery.kind, 'again');
  await until('the connection is closed', () => server.connections() === 0);
});

test('a server that is not there is tried again', async (t) => {
  const h = await startMailer(t, { port: 9 });
  assert.match(
    (await h.tryIt()).failure ?? '',
    /^No connection to the mail server: ECONNREFUSED\.$/,
  );
});

test('mail goes to the own address only, and only if the operator has set a server', async (t) => {
  const h = await startMailer(t);
  const send = (more: object) =>
    h.person.send(consolePathOf(notificationChannels.put), { ...h.put, ...more });
  const elsewhere = await send({ url: 'https://evil.example/x' });
  assert.match(String(elsewhere.body.message), /address of your account/);
  assert.deepEqual([(await h.own()).host, (await h.own()).count], ['ada@acme.dev', 1]);
  const without = await startDecisionWorld(t);
  const person = await signInFirstOwner(without);
  const { workspaceId } = without;
  const { list, put } = notificationChannels;
  const refused = await person.send(consolePathOf(put), { ...h.put, workspaceId });
  assert.match(String(refused.body.message), /SVC_SMTP_URL/);
  const { body } = await person.send(consolePathOf(list), { workspaceId });
  assert.deepEqual(body.kinds, ['ntfy', 'webhook', 'push', 'slack', 'teams', 'discord']);
});
