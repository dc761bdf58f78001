import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { whyNoDovecot } from '../../support/dovecot.ts';
import {
  attachment,
  base64,
  chinese,
  japanese,
  makeMail,
  multipart,
  part,
} from '../../support/mail-samples.ts';
import { assertLive, assertOrder, root, startMailWorld } from '../../support/mail-world.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const skip = whyNoDovecot();
const MEGABYTE = 1_048_576;

test('a thread is fetched live from the inbox and the sent mail, in order and in every encoding', {
  skip,
}, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
  await addAccount();
  const body = multipart('mixed', 'outer', [
    multipart('alternative', 'inner', [
      part(
        'text/plain; charset=utf-8',
        'quoted-printable',
        'The export for Caf=C3=A9 is =\r\nslow.',
      ),
      part('text/html; charset=utf-8', 'quoted-printable', '<p>HTML of the same</p>'),
    ]),
    attachment('figures.csv', 'text/csv', 'customer,amount\nsecret-of-the-file,1'),
  ]);
  server.deliver(makeMail({ id: root, subject: '=?utf-8?Q?Export_f=C3=BCr_Caf=C3=A9?=' }, body));
  const reply = { inReplyTo: root, references: [root] };
  server.deliver(
    makeMail(
      { id: 'r1@acme.dev', from: 'Kei <kei@acme.dev>', ...reply },
      part('text/plain; charset=iso-2022-jp', '7bit', ''),
      japanese.bytes,
      '\r\n\r\nOn Tue, 3 Nov 2026 at 10:00, Ada <ada@acme.dev>\r\nwrote:\r\n> QUOTED-ONCE\r\n>> QUOTED-TWICE\r\n',
    ),
  );
  server.deliver(
    makeMail(
      { id: 'r2@acme.dev', inReplyTo: 'r1@acme.dev', references: [root, 'r1@acme.dev'] },
      part('text/plain; charset=gb18030', 'base64', base64(chinese.bytes)),
    ),
    { mailbox: 'Sent' },
  );
  server.deliver(
    makeMail(
      { id: 'r3@acme.dev', inReplyTo: 'r2@acme.dev', subject: 'Re: Billing export' },
      part(
        'text/html; charset=utf-8',
        'base64',
        base64(
          '<div>Only <b>HTML</b>, says <a href="https://acme.dev/x">this</a>.<script>evil()</script></div><blockquote>QUOTED-HTML</blockquote>',
        ),
      ),
    ),
  );
  server.deliver(
    makeMail(
      { id: 'other@acme.dev', references: [`x${root}`] },
      part('text/plain', '7bit', 'ANOTHER-THREAD'),
    ),
  );
  const section = assertLive(await resolveFresh());
  assertOrder(
    section.text,
    'From: Ada <ada@acme.dev>',
    'Subject: Export für Café',
    'Attachments, not included: figures.csv (text/csv)',
    'The export for Café is slow.',
    'From: Kei <kei@acme.dev>',
    japanese.text,
    chinese.text,
    'Only HTML, says this [https://acme.dev/x].',
  );
  assert.doesNotMatch(section.text, /QUOTED|ANOTHER-THREAD|secret-of-the-file|evil|cached/);
  assert.equal(section.truncated, false);
  assert.match(section.text, /^\[Untrusted text [0-9a-f]{16} from mail:/);
  assert.equal(readdirSync(server.newDir).length, 4, 'no message is marked as seen or moved');
});

test('mail is fetched only with the hint, and at every resolve of a pack built with it', {
  skip,
}, async (t) => {
  const { server, addAccount, resolve, build } = await startMailWorld(t);
  await addAccount();
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'Live.')));
  const { sections, freshness } = await resolve();
  assert.equal(sections[0]?.textKind, 'cached');
  assert.deepEqual(freshness, { requested: false, threads: [] });
  await build({ expansionHints: ['fresh_v1', 'hint_unknown'] });
  assertLive(await resolve());
});

test('further messages of the thread refer to the section with the whole thread', {
  skip,
}, async (t) => {
  const { server, addAccount, add, build, resolveFresh } = await startMailWorld(t);
  await addAccount();
  const item = { kind: 'mail_message', source: 'mail', trust: 'external' } as const;
  await add({ ...item, text: 'A reply.', threadRef: `<${root}>`, sourceRef: '<r1@acme.dev>' });
  await add({
    ...item,
    text: 'Deleted since.',
    threadRef: `<${root}>`,
    sourceRef: 'gone@acme.dev',
  });
  await build();
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'First.')));
  server.deliver(
    makeMail({ id: 'r1@acme.dev', inReplyTo: root }, part('text/plain', '7bit', 'Second.')),
  );
  const { sections, freshness } = await resolveFresh();
  assert.equal(freshness.threads.length, 1);
  const whole = sections.filter(({ text }) => text.includes('First.') && text.includes('Second.'));
  assert.equal(whole.length, 1);
  const kept = sections.find(({ text }) => text.includes('Deleted since.'));
  assert.equal(
    kept?.textKind,
    'cached',
    'a message that the server no longer has is served from the cache',
  );
});

test('secrets in live mail are redacted', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
  await addAccount();
  const secret = ['ghp_', 'aB3dE5gH7j'.repeat(4)].join('');
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', `Use ${secret} for it.`)));
  assert.match(assertLive(await resolveFresh()).text, /Use \[redacted\] for it\./);
});

test('of a message of 10 MB one megabyte is fetched', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
  const proxy = await startTcpProxy(t, server.tlsPort);
  await addAccount({ port: proxy.port });
  const body = multipart('mixed', 'big', [
    part('text/plain; charset=utf-8', '7bit', 'See the attached dump.'),
    attachment('dump.bin', 'application/octet-stream', 'x'.repeat(7.5 * MEGABYTE)),
  ]);
  assert.ok(body.length > 10 * MEGABYTE);
  server.deliver(makeMail({ id: root }, body));
  const section = assertLive(await resolveFresh());
  assert.match(section.text, /dump\.bin/);
  assertOrder(
    section.text,
    'See the attached dump.',
    'Only the beginning of this message was fetched',
  );
  assert.equal(section.truncated, true);
  assert.ok(proxy.bytesFromServer < 1.2 * MEGABYTE, String(proxy.bytesFromServer));
});

test('malformed messages do not affect others', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
  await addAccount();
  const reply = { inReplyTo: root };
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'The first is well.')));
  let nested = part('text/plain', '7bit', 'deep');
  for (let level = 0; level < 200; level++) nested = multipart('mixed', `b${level}`, [nested]);
  server.deliver(makeMail({ id: 'nested@acme.dev', ...reply }, nested));
  server.deliver(
    makeMail(
      { id: 'charset@acme.dev', ...reply },
      part('text/plain; charset=x-none', 'base64', '!!!not base64!!!'),
    ),
  );
  server.deliver(
    makeMail(
      { id: 'open@acme.dev', ...reply },
      'Content-Type: multipart/mixed; boundary="never"\r\n\r\n--never\r\n',
    ),
  );
  server.deliver(
    Buffer.concat([makeMail({ id: 'bytes@acme.dev', ...reply }), Buffer.alloc(5_000, 0x80)]),
  );
  server.deliver(
    makeMail({ id: 'last@acme.dev', ...reply }, part('text/plain', '7bit', 'The last is well.')),
  );
  const { text } = assertLive(await resolveFresh());
  assertOrder(text, 'The first is well.', '(This message could not be read.)', 'The last is well.');
  assert.doesNotMatch(text, /deep/);
});

test('many threads share few connections, and each is fetched', { skip }, async (t) => {
  const { server, addAccount, add, build, resolveFresh } = await startMailWorld(t);
  const proxy = await startTcpProxy(t, server.tlsPort);
  await addAccount({ port: proxy.port });
  const item = { kind: 'mail_message', source: 'mail', trust: 'external' } as const;
  for (let i = 0; i < 24; i++) {
    const id = `thread${i}@acme.dev`;
    server.deliver(makeMail({ id }, part('text/plain', '7bit', `Text of thread ${i}.`)));
    await add({ ...item, text: `Cached ${i}.`, threadRef: id });
  }
  await build();
  const { sections, freshness } = await resolveFresh();
  const kinds = sections.map(({ textKind }) => textKind);
  assert.equal(kinds.filter((kind) => kind === 'live').length, 20);
  assert.equal(freshness.threads.length, 25);
  const messages = freshness.threads.map(({ message }) => message ?? '');
  assert.equal(messages.filter((text) => text.startsWith('At most 20 threads')).length, 5);
  assert.equal(proxy.connections, 2);
});

test('of a long thread the latest messages are shown, with the number of older ones', {
  skip,
}, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
  await addAccount();
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'Number 0.')));
  for (let i = 1; i < 34; i++) {
    const headers = { id: `r${i}@acme.dev`, references: [root] };
    server.deliver(makeMail(headers, part('text/plain', '7bit', `Number ${i}.`)));
  }
  const section = assertLive(await resolveFresh());
  assertOrder(
    section.text,
    '(4 older messages of this thread are left out.)',
    'Number 4.',
    'Number 33.',
  );
  assert.doesNotMatch(section.text, /Number 3\./);
  assert.equal(section.truncated, true);
});
