import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { endpoints, type PackSection } from '@signalbox/contract';
import { ConnectionSlots } from '../src/context/connection-slots.ts';
import { type MailAccountDraft, putMailAccount } from '../src/context/mail-account-actions.ts';
import { resolveRunPack } from '../src/context/resolve-actions.ts';
import { setupContext } from './context-setup.ts';
import { startDovecot, whyNoDovecot } from './dovecot.ts';
import {
  attachment,
  base64,
  chinese,
  japanese,
  makeMail,
  multipart,
  part,
} from './mail-samples.ts';
import { startTcpProxy } from './tcp-proxy.ts';

const { contextPacks } = endpoints;
const skip = whyNoDovecot();
const never = new AbortController().signal;
const root = 'root@acme.dev';
const MEGABYTE = 1_048_576;

/** A hub, a mail server, and a pack with an item for the thread's first message. */
async function setupMail(t: TestContext) {
  const context = await setupContext(t, { config: { allowPrivateHosts: ['localhost'] } });
  const server = await startDovecot(t);
  const { add, build, hub, workspaceId, runId } = context;
  const item = { kind: 'mail_message', source: 'mail', trust: 'external' } as const;
  await add({ ...item, text: 'The cached extract.', threadRef: `<${root}>`, sourceRef: root });
  await build();
  return {
    ...context,
    server,
    /** Adds the account of the server, or another one that differs from it. */
    addAccount: (draft: Partial<MailAccountDraft> = {}) =>
      putMailAccount(hub.deps, 'test', {
        workspaceId,
        name: 'ops',
        host: 'localhost',
        port: server.tlsPort,
        tlsMode: 'tls',
        caCertificate: server.certificate,
        userName: server.user,
        authKind: 'password',
        secret: server.password,
        ...draft,
      }),
    resolveFresh: () => context.resolve({ expansionHints: ['fresh_v1'] }),
    /** Resolves as the endpoint does, with less time. */
    resolveWithin: (totalMs: number, signal: AbortSignal = never) =>
      resolveRunPack(
        {
          ...hub.deps,
          mail: {
            allowPrivateHosts: ['localhost'],
            totalMs,
            connections: new ConnectionSlots(8),
          },
        },
        { workspaceId, runId, expansionHints: ['fresh_v1'], format: 'sections' },
        signal,
      ),
  };
}

type Resolved = Awaited<ReturnType<typeof resolveRunPack>>;

function assertLive({ sections, freshness }: Resolved): PackSection {
  const [section] = sections;
  assert.equal(freshness.threads[0]?.textKind, 'live', JSON.stringify(freshness));
  assert.ok(section?.textKind === 'live');
  assert.equal(section.trust, 'external');
  return section;
}

/** The cached extract is answered, and freshness says why in these words. */
function assertCached({ sections, freshness }: Resolved, why: RegExp): void {
  const [section] = sections;
  assert.equal(section?.textKind, 'cached');
  assert.match(section?.text ?? '', /The cached extract\./);
  assert.equal(freshness.requested, true);
  assert.equal(freshness.threads[0]?.textKind, 'cached');
  assert.match(freshness.threads[0]?.message ?? '', why);
}

function assertOrder(text: string, ...pieces: readonly string[]): void {
  let at = -1;
  for (const piece of pieces) {
    const next = text.indexOf(piece, at + 1);
    assert.ok(next > at, `${piece} comes next in ${text}`);
    at = next;
  }
}

test('a thread is fetched live from the inbox and from what was sent, in order and in every encoding', {
  skip,
}, async (t) => {
  const { server, addAccount, resolveFresh } = await setupMail(t);
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
  assert.equal(readdirSync(server.newDir).length, 4, 'nothing is marked as seen, nor moved');
});

test('without the hint nothing is fetched; asked for at the build, it is at every resolve', {
  skip,
}, async (t) => {
  const { server, addAccount, resolve, build } = await setupMail(t);
  await addAccount();
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'Live.')));
  const { sections, freshness } = await resolve();
  assert.equal(sections[0]?.textKind, 'cached');
  assert.deepEqual(freshness, { requested: false, threads: [] });
  await build({ expansionHints: ['fresh_v1', 'hint_unknown'] });
  assertLive(await resolve());
});

test('further messages of the thread point at the section that has it whole', {
  skip,
}, async (t) => {
  const { server, addAccount, add, build, resolveFresh } = await setupMail(t);
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
  assert.equal(kept?.textKind, 'cached', 'what the server has no more stays as it was cached');
});

test('secrets in live mail are redacted', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await setupMail(t);
  await addAccount();
  const secret = ['ghp_', 'aB3dE5gH7j'.repeat(4)].join('');
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', `Use ${secret} for it.`)));
  assert.match(assertLive(await resolveFresh()).text, /Use \[redacted\] for it\./);
});

test('of a message of 10 MB one megabyte is fetched', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await setupMail(t);
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
  assertOrder(section.text, 'See the attached dump.', 'longer than what was fetched');
  assert.equal(section.truncated, true);
  assert.ok(proxy.bytesFromServer < 1.2 * MEGABYTE, String(proxy.bytesFromServer));
});

test('malformed messages spoil only themselves', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await setupMail(t);
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

test('a thread that is not in any mailbox stays as it was cached', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await setupMail(t);
  await addAccount();
  server.deliver(makeMail({ id: 'other@acme.dev' }, part('text/plain', '7bit', 'Elsewhere.')));
  assertCached(await resolveFresh(), /No mailbox .* has a message of this thread\./);
});

test('without a mail account the cached extract is answered, and freshness says so', {
  skip,
}, async (t) => {
  const { resolveFresh } = await setupMail(t);
  assertCached(await resolveFresh(), /^No mail account is set up in this workspace\.$/);
});

test('a server that is down is a sentence, not an error', { skip }, async (t) => {
  const { addAccount, resolveFresh } = await setupMail(t);
  const nobody = await startTcpProxy(t, 1);
  await addAccount({ port: nobody.port });
  assertCached(await resolveFresh(), /account "ops" could not be reached\.$/);
});

test('a refused password is a sentence that holds neither it nor the server’s words', {
  skip,
}, async (t) => {
  const { addAccount, resolveFresh } = await setupMail(t);
  await addAccount({ secret: 'wrong pony' });
  const answer = await resolveFresh();
  assertCached(answer, /^The mail server of the account "ops" refused the sign-in\.$/);
  assert.doesNotMatch(JSON.stringify(answer), /wrong pony|AUTHENTICATIONFAILED/);
});

for (const [when, stallAfterBytes] of [
  ['before it has said anything', 0],
  ['in the middle of the handshake', 600],
  ['after the sign-in', 3_000],
] as const) {
  test(`a server that stalls ${when} costs no more than the time there is`, { skip }, async (t) => {
    const { server, addAccount, resolveWithin, add } = await setupMail(t);
    const proxy = await startTcpProxy(t, server.tlsPort, stallAfterBytes);
    await addAccount({ port: proxy.port });
    server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'x'.repeat(50_000))));
    const connected = once(proxy.events, 'connection');
    const gone = once(proxy.events, 'gone');
    const resolved = resolveWithin(700);
    await connected;
    await add({ text: 'Nothing is held up meanwhile.' });
    assertCached(await resolved, /did not answer within 0\.7 s\.$/);
    await gone;
  });
}

test('who goes away while a server stalls takes the connection along', { skip }, async (t) => {
  const { server, addAccount, workspaceId, runId, hub, home } = await setupMail(t);
  const proxy = await startTcpProxy(t, server.tlsPort, 0);
  await addAccount({ port: proxy.port });
  const client = new AbortController();
  const connected = once(proxy.events, 'connection');
  const gone = once(proxy.events, 'gone');
  const asked = fetch(hub.baseUrl + contextPacks.resolveRunV1.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${home.token}` },
    body: JSON.stringify({ workspaceId, runId, expansionHints: ['fresh_v1'] }),
    signal: client.signal,
  });
  await connected;
  client.abort();
  await assert.rejects(asked);
  await gone;
});

test('of two accounts one that fails does not keep the thread from being live', {
  skip,
}, async (t) => {
  const { server, addAccount, resolveFresh } = await setupMail(t);
  const nobody = await startTcpProxy(t, 1);
  await addAccount({ name: 'broken', port: nobody.port });
  await addAccount();
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'From the other one.')));
  assert.match(assertLive(await resolveFresh()).text, /From the other one\./);
});

test('a certificate that nobody vouches for ends it before the password is sent', {
  skip,
}, async (t) => {
  const { addAccount, resolveFresh } = await setupMail(t);
  await addAccount({ caCertificate: null });
  assertCached(await resolveFresh(), /certificate that is not trusted/);
});

test('STARTTLS comes before the sign-in; without TLS only a private host is called', {
  skip,
}, async (t) => {
  const { server, addAccount, resolveFresh } = await setupMail(t);
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'Live.')));
  const account = await addAccount({ port: server.port, tlsMode: 'starttls' });
  assertLive(await resolveFresh());
  await addAccount({ accountId: account?.accountId, port: server.port, tlsMode: 'none' });
  assertLive(await resolveFresh());
  await addAccount({
    accountId: account?.accountId,
    port: server.port,
    tlsMode: 'starttls',
    caCertificate: null,
  });
  assertCached(await resolveFresh(), /certificate that is not trusted/);
});

test('a private host that the operator has not named is not called', { skip }, async (t) => {
  const { server, addAccount, hub, workspaceId, runId } = await setupMail(t);
  const proxy = await startTcpProxy(t, server.tlsPort);
  await addAccount({ port: proxy.port });
  const mail = { allowPrivateHosts: [], totalMs: 5_000, connections: new ConnectionSlots(8) };
  const input = { workspaceId, runId, expansionHints: ['fresh_v1'], format: 'sections' } as const;
  const body = { ...input, expansionHints: ['fresh_v1'] };
  assertCached(
    await resolveRunPack({ ...hub.deps, mail }, body, never),
    /localhost is private, .* SVC_ALLOW_PRIVATE_HOSTS/,
  );
  assert.equal(proxy.connections, 0);
});

test('many threads share few connections, and each is answered', { skip }, async (t) => {
  const { server, addAccount, add, build, resolveFresh } = await setupMail(t);
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
  assert.equal(messages.filter((text) => text.startsWith('Only 20 threads')).length, 5);
  assert.equal(proxy.connections, 2);
});
