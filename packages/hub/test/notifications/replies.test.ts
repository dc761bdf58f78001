import assert from 'node:assert/strict';
import { readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { deleteMembership } from '../../src/access/store.ts';
import { trustCertificate } from '../support/certificate.ts';
import { type Dovecot, startDovecot, whyNoDovecot } from '../support/dovecot.ts';
import { listAudit } from '../support/people.ts';
import { PASSES, startReplyWorld } from '../support/reply-world.ts';

const skip = whyNoDovecot();
/** One server for all tests of the file, with a mailbox for each. */
let server: Dovecot;
const ends: (() => void | Promise<void>)[] = [];
before(async () => {
  if (skip !== undefined) return;
  const file = { after: (end: () => void | Promise<void>) => void ends.push(end) };
  server = await startDovecot(file);
  trustCertificate(file, server.certificate);
});
after(async () => {
  for (const end of ends.toReversed()) await end();
});
let worlds = 0;
function startWorld(t: TestContext) {
  worlds += 1;
  return startReplyWorld(t, server.addUser(`ada-${worlds}`));
}

const MEGABYTE = 1_048_576;
const asked = {
  prompt: 'Which colour?',
  kind: 'choice' as const,
  recommendedValue: 'g',
  options: [{ value: 'blue' }, { value: 'g', label: 'Green' }],
};

test('a reply with the number of an answer gives it, as the person', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  await h.reply(uncertaintyId, '2\n\nAda');
  const [mail] = h.outgoing.mails;
  assert.match(
    mail?.mail.text ?? '',
    /^Reply above this line\.\n\nA job asks you\n.*\n1\. “blue”\n2\. “Green” \(recommended\)\n\nA reply/s,
  );
  assert.match(mail?.mail.html ?? '', /1\. “blue”<br>2\. “Green” \(recommended\)/);
  await h.read();
  const { resolution } = await h.whole(uncertaintyId);
  assert.deepEqual([resolution?.value, resolution?.createdBy], ['g', 'Ada Lovelace']);
  const audit = (await listAudit(h.hub, h.workspaceId)).at(-1);
  assert.deepEqual([audit?.action, audit?.actor], ['uncertainty.resolve', h.person.personId]);
  assert.equal(JSON.parse(audit?.data ?? '{}').via, 'mail');
  assert.deepEqual([h.refusals(), h.unseen()], [[], 0]);
});

test('a reply in other words is the answer, without its quote and signature', {
  skip,
}, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask({ prompt: 'Which port?', kind: 'missing_fact' });
  await h.reply(uncertaintyId, 'Take 8080.\nIt is free.\n\n-- \nAda Lovelace');
  assert.match(
    h.outgoing.mails[0]?.mail.text ?? '',
    /\nA reply answers the question, in your words\.\n/,
  );
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['resolved', 'Take 8080.\nIt is free.']);
});

test('a reply that is only HTML is read like one of text', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  const { messageId = '', html: ours = '' } = await h.mailOf(uncertaintyId);
  const pageOf = (content: string) => `<html><body>${content}</body></html>`;
  const head = '<hr><p><b>From:</b> Signalbox<br><b>Sent:</b> Tuesday</p>';
  await h.mailIn({ inReplyTo: messageId, html: pageOf(`<p>“Green”</p><p>Ada</p>${head}${ours}`) });
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['resolved', 'g']);
  const { uncertaintyId: other } = await h.ask({ prompt: 'Which port?', kind: 'missing_fact' });
  const second = await h.mailOf(other);
  const quote = `<blockquote>${second.html}</blockquote>`;
  const html = pageOf(`<p>Take <b>8080</b>.</p>${quote}`);
  await h.mailIn({ inReplyTo: second.messageId, html });
  await h.read();
  assert.deepEqual(await h.state(other), ['resolved', 'Take 8080.']);
});

test('a mail that does not prove its sender answers nothing and gets no mail', {
  skip,
}, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  const planted = { headers: { 'Authentication-Results': PASSES } };
  const foreign = 'mx.evil.example; dmarc=pass header.from=acme.dev';
  const fails = 'mx.acme.dev; dmarc=fail header.from=acme.dev';
  const others = 'mx.acme.dev; dmarc=pass header.from=evil.example';
  await h.reply(uncertaintyId, '1', {}, fails);
  await h.reply(uncertaintyId, '1', planted, fails);
  await h.reply(uncertaintyId, '1', {}, foreign);
  await h.reply(uncertaintyId, '1', { from: 'Ada <eve@evil.example>' }, others);
  await h.reply(uncertaintyId, '1', { from: '"ada@acme.dev" <eve@acme.dev>' });
  await h.reply(uncertaintyId, '1', { from: ['ada@acme.dev', 'eve@acme.dev'] });
  await h.reply(uncertaintyId, 'Out of office.', { headers: { 'Auto-Submitted': 'auto-replied' } });
  await h.mailIn({ subject: 'Hello', text: '1' });
  // A mail answers for the person who got it.
  await h.addMember('grace');
  await h.reply(uncertaintyId, '1', { from: 'grace@acme.dev' });
  assert.equal(h.unseen(), 9);
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['open', null]);
  assert.deepEqual([h.outgoing.mails.length, h.unseen()], [1, 0]);
  await h.reply(uncertaintyId, '1');
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['resolved', 'blue']);
});

test('an approval is not settled by a reply, and the person is told so', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask({ ...asked, kind: 'approval' });
  const { text, html } = await h.mailOf(uncertaintyId);
  assert.doesNotMatch(`${text}${html}`, /Reply above this line|1\. “blue”/);
  await h.reply(uncertaintyId, '1');
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['open', null]);
  const [refusal, ...others] = h.refusals();
  assert.deepEqual(others, []);
  assert.match(refusal?.text ?? '', /^Your reply has not .* Only the console settles approvals/);
  assert.match(refusal?.text ?? '', new RegExp(`/inbox/${uncertaintyId}\\n*$`));
  assert.deepEqual(
    refusal?.headers.find(({ key }) => key === 'auto-submitted')?.value,
    'auto-replied',
  );
  assert.equal(h.unseen(), 0);
});

test('a reply counts only to a mail that shows the question', { skip }, async (t) => {
  const h = await startWorld(t);
  await h.put({ channelId: h.channelId, showsText: false });
  const { uncertaintyId } = await h.ask(asked);
  const { text = '' } = await h.mailOf(uncertaintyId);
  assert.doesNotMatch(text, /Reply above this line|blue/);
  await h.reply(uncertaintyId, '1');
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['open', null]);
  assert.equal(h.refusals().length, 1);
});

test('a reply to a mail about several questions answers none of them', { skip }, async (t) => {
  const h = await startWorld(t);
  await h.person.call(consoleEndpoints.notifications.setDigest, { hours: 1 });
  const low = { ...asked, impact: 'low' };
  const ids = [await h.ask(low), await h.ask({ ...low, prompt: 'Which size?' })];
  // A pass looks at one message of a channel.
  for (const _ of ids) await h.send();
  h.clock.advance(60 * 60_000);
  for (const _ of ids) await h.send();
  const { messageId = '', subject, text = '' } = h.outgoing.mails.at(-1)?.mail ?? {};
  assert.equal(subject, '2 questions of low risk wait');
  assert.doesNotMatch(text, /Reply above this line/);
  await h.mailIn({ inReplyTo: messageId, text: '1' });
  await h.read();
  for (const { uncertaintyId } of ids) {
    assert.deepEqual(await h.state(uncertaintyId), ['open', null]);
  }
  // The turn of the clock has begun another pass.
  assert.ok(h.refusals().length >= 1);
});

test('without the channel of its mail, a reply answers nothing', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  await h.mailOf(uncertaintyId);
  const { workspaceId, channelId } = h;
  await h.person.call(consoleEndpoints.notificationChannels.remove, { workspaceId, channelId });
  await h.reply(uncertaintyId, '1');
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['open', null]);
  assert.equal(h.refusals().length, 1);
});

test('a late reply is told who was first', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  await h.mailOf(uncertaintyId);
  await h.answer(uncertaintyId, { value: 'red' });
  await h.reply(uncertaintyId, '1');
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['resolved', 'red']);
  assert.match(h.refusals()[0]?.text ?? '', /It came too late: \S.* answered “red” at \d{4}-/);
});

test('a reply without text, and one that may mean two answers, are refused', {
  skip,
}, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask({ ...asked, options: [{ value: '2' }, { value: '1' }] });
  await h.reply(uncertaintyId, '');
  await h.reply(uncertaintyId, '1');
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['open', null]);
  const texts = h.refusals().map(({ text }) => text ?? '');
  assert.match(texts[0] ?? '', /has no text above what it quotes/);
  assert.match(texts[1] ?? '', /may mean two of the answers/);
});

test('a person who has left the workspace answers nothing', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  await h.reply(uncertaintyId, '1');
  const { personId } = h.person;
  await h.hub.database.write(h.workspaceId, (tx) => deleteMembership(tx, h.workspaceId, personId));
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['open', null]);
  assert.deepEqual([h.refusals(), h.unseen()], [[], 0]);
});

test('a mail that is too large or cannot be parsed does not stop the next', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  const nested = Array.from(
    { length: 40 },
    (_, at) => `--${at}\r\nContent-Type: multipart/mixed; boundary=${at + 1}\r\n\r\n`,
  );
  const { messageId = '' } = await h.mailOf(uncertaintyId);
  h.dovecot.deliver(
    `Authentication-Results: ${PASSES}\r\nFrom: ada@acme.dev\r\nIn-Reply-To: ${messageId}\r\n` +
      `Content-Type: multipart/mixed; boundary=0\r\n\r\n${nested.join('')}`,
  );
  const content = Buffer.alloc(2 * MEGABYTE, 'x');
  await h.reply(uncertaintyId, '1', { attachments: [{ filename: 'large.bin', content }] });
  await h.reply(uncertaintyId, '2');
  await h.read();
  assert.deepEqual(await h.state(uncertaintyId), ['resolved', 'g']);
  assert.deepEqual([h.refusals().length, h.unseen()], [1, 0]);
  assert.match(h.refusals()[0]?.text ?? '', /It is larger than 1 MiB\./);
});

test('a mail that comes twice, or is read twice, is one answer', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask(asked);
  await h.reply(uncertaintyId, '1');
  await h.reply(uncertaintyId, '1');
  await h.read();
  // As when the hub is killed before it marks the mails.
  const folder = join(dirname(h.dovecot.newDir), 'cur');
  for (const name of readdirSync(folder)) {
    renameSync(join(folder, name), join(folder, name.replace(/:2,.*$/, ':2,')));
  }
  assert.equal(h.unseen(), 2);
  await h.read();
  const { resolutions } = await h.whole(uncertaintyId);
  assert.deepEqual([resolutions.map(({ value }) => value), h.refusals()], [['blue'], []]);
  assert.equal(h.unseen(), 0);
});

test('a person is told later when the mail server puts the mail off', { skip }, async (t) => {
  const h = await startWorld(t);
  const { uncertaintyId } = await h.ask({ ...asked, kind: 'risk' });
  await h.reply(uncertaintyId, '1');
  h.outgoing.answerWith({ code: 451, words: '4.7.1 Come again' });
  await h.read();
  assert.deepEqual([h.refusals().length, h.unseen()], [0, 1]);
  await h.read();
  assert.deepEqual([h.refusals().length, h.unseen()], [1, 0]);
});
