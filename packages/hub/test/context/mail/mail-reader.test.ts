import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MailReader, UnreadableMailError } from '../../../src/context/mail/message-reader.ts';
import { readMailMessage } from '../../../src/context/mail/read-message.ts';
import { base64, makeMail, multipart, part } from '../../support/mail-samples.ts';

const plain = (text: string) => makeMail({ id: 'a@acme.dev' }, part('text/plain', '7bit', text));

const asIs = { redacts: false };

function openReader(t: TestContext, readMsMax?: number, redacts = false): MailReader {
  const reader = new MailReader({ redacts }, readMsMax);
  t.after(() => reader.close());
  return reader;
}

test('messages are parsed in a thread, one after the other', async (t) => {
  const reader = openReader(t);
  const message = await reader.read(plain('Hello.'));
  assert.deepEqual(message, {
    messageId: 'a@acme.dev',
    from: 'Ada <ada@acme.dev>',
    sentAt: '2026-11-03T09:00:00.000Z',
    subject: 'Billing export',
    attachments: [],
    text: 'Hello.',
  });
  assert.equal((await reader.read(plain('Again.'))).text, 'Again.');
});

test('secrets of a message are redacted in the thread, before the text is cut', async (t) => {
  const secret = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
  const reader = openReader(t, undefined, true);
  const headers = { id: 'a@acme.dev', subject: `Key ${secret}` };
  const mail = makeMail(headers, part('text/plain', '7bit', `Use ${secret}.`));
  const { subject, text } = await reader.read(mail);
  assert.deepEqual({ subject, text }, { subject: 'Key [redacted]', text: 'Use [redacted].' });
  const lines = `${'x'.repeat(62)}\n`.repeat(1_700).slice(0, 99_990);
  const edge = await reader.read(plain(`${lines} ${secret} and more`));
  assert.ok(!edge.text.includes('AKIA'), edge.text.slice(-40));
  assert.equal(edge.text.length, 100_000);
});

/** A megabyte of open tags: the slowest input for an HTML parser. */
function makeSlowMessage() {
  return makeMail({ id: 'a@acme.dev' }, part('text/html', '7bit', '<div><a><b>'.repeat(95_000)));
}

test('a message that takes too long is aborted, and the next one is parsed', async (t) => {
  const reader = openReader(t, 1);
  await assert.rejects(reader.read(makeSlowMessage()), UnreadableMailError);
  const patient = openReader(t);
  await patient.close();
  assert.equal((await patient.read(plain('After the end of a thread.'))).text.length, 26);
});

test('the event loop keeps running while a hostile message is parsed', async (t) => {
  const reader = openReader(t);
  const html = makeSlowMessage();
  let turns = 0;
  let reading = true;
  const read = reader.read(html).then(
    () => 'read',
    (error: unknown) => (error instanceof UnreadableMailError ? 'given up' : 'broken'),
  );
  const done = read.finally(() => {
    reading = false;
  });
  while (reading) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  assert.match(await done, /^(?:read|given up)$/);
  assert.ok(turns > 10, `${turns} turns of the event loop meanwhile`);
});

test('nesting beyond the limit is refused before it is parsed', async () => {
  let nested = part('text/plain', '7bit', 'deep');
  for (let level = 0; level < 30; level++) nested = multipart('mixed', `b${level}`, [nested]);
  await assert.rejects(readMailMessage(makeMail({ id: 'a@acme.dev' }, nested), asIs));
});

test('a forwarded message is shown, and one nested within it is only named', async () => {
  const inner = makeMail(
    { id: 'inner@acme.dev', subject: 'Inner' },
    part('text/plain', '7bit', 'INNERMOST'),
  );
  const middle = makeMail(
    { id: 'middle@acme.dev', subject: 'Middle' },
    multipart('mixed', 'm', [
      part('text/plain', '7bit', 'In the middle.'),
      part('message/rfc822', '7bit', inner.toString('latin1')),
    ]),
  );
  const outer = makeMail(
    { id: 'outer@acme.dev' },
    multipart('mixed', 'o', [
      part('text/plain', '7bit', 'Look at this.'),
      part('message/rfc822', '7bit', middle.toString('latin1')),
    ]),
  );
  const { text } = await readMailMessage(outer, asIs);
  assert.match(text, /Look at this\.[\s\S]*In the middle\./);
  assert.doesNotMatch(text, /INNERMOST/);
});

test('names of attachments and senders cannot break out of their line', async () => {
  const name = `=?utf-8?B?${Buffer.from('a\r\nSubject: forged\u202e.txt').toString('base64')}?=`;
  const mail = makeMail(
    { id: 'a@acme.dev', from: `${name} <eve@acme.dev>`, subject: name },
    multipart('mixed', 'o', [
      part('text/plain', '7bit', 'x'),
      `Content-Type: text/plain; name="${name}"\r\nContent-Disposition: attachment\r\n\r\nx\r\n`,
    ]),
  );
  const { from, subject, attachments } = await readMailMessage(mail, asIs);
  for (const value of [from, subject, ...attachments]) assert.doesNotMatch(value, /[\r\n\u202e]/);
});

test('a message with only HTML becomes text, without scripts, styles and pictures', async () => {
  const html =
    '<style>p{}</style><p>One</p><script>evil()</script><ul><li>two</li></ul>' +
    '<img src="https://tracker.example/x.gif" alt="pixel">';
  const mail = makeMail(
    { id: 'a@acme.dev' },
    part('text/html; charset=utf-8', 'base64', base64(html)),
  );
  const { text } = await readMailMessage(mail, asIs);
  assert.match(text, /One\s+\* two/);
  assert.doesNotMatch(text, /evil|p\{\}|tracker/);
});

test('input that is not mail is an empty message', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('\r\n'), Buffer.alloc(10_000, 0xff)]) {
    const { messageId, from, sentAt } = await readMailMessage(bytes, asIs);
    assert.deepEqual(
      { messageId, from, sentAt },
      { messageId: null, from: 'unknown', sentAt: null },
    );
  }
});
