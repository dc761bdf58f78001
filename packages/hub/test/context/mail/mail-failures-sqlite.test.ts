import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { ConnectionSlots } from '../../../src/context/mail/connection-slots.ts';
import { resolveRunPack } from '../../../src/context/resolve-pack.ts';
import { whyNoDovecot } from '../../support/dovecot.ts';
import { makeMail, part } from '../../support/mail-samples.ts';
import { assertCached, assertLive, root, startMailWorld } from '../../support/mail-world.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const { contextPacks } = endpoints;
const skip = whyNoDovecot();
const never = new AbortController().signal;

test('a thread in no mailbox is served from the cache', { skip }, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
  await addAccount();
  server.deliver(makeMail({ id: 'other@acme.dev' }, part('text/plain', '7bit', 'Elsewhere.')));
  assertCached(await resolveFresh(), /No mailbox .* has a message of this thread\./);
});

test('without a mail account the cached extract is served, and freshness says so', {
  skip,
}, async (t) => {
  const { resolveFresh } = await startMailWorld(t);
  assertCached(await resolveFresh(), /^No mail account is set up in this workspace\.$/);
});

test('an unreachable server is reported in a sentence, not as an error', { skip }, async (t) => {
  const { addAccount, resolveFresh } = await startMailWorld(t);
  const closedProxy = await startTcpProxy(t, 1);
  await addAccount({ port: closedProxy.port });
  assertCached(await resolveFresh(), /account "ops" could not be reached\.$/);
});

test('a refused password is reported without the password and without the server’s text', {
  skip,
}, async (t) => {
  const { addAccount, resolveFresh } = await startMailWorld(t);
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
  test(`a server that stalls ${when} delays the answer only up to the time limit`, {
    skip,
  }, async (t) => {
    const { server, addAccount, resolveUntil, add } = await startMailWorld(t);
    const proxy = await startTcpProxy(t, server.tlsPort, stallAfterBytes);
    await addAccount({ port: proxy.port });
    server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'x'.repeat(50_000))));
    const connected = once(proxy.events, 'connection');
    const gone = once(proxy.events, 'gone');
    const limit = new AbortController();
    const resolved = resolveUntil(limit.signal);
    await connected;
    await add({ text: 'Other requests continue meanwhile.' });
    limit.abort();
    assertCached(await resolved, /did not answer within 0\.7 s\.$/);
    await gone;
  });
}

test('the connection to a stalled server closes when the client disconnects', {
  skip,
}, async (t) => {
  const { server, addAccount, workspaceId, runId, hub, home } = await startMailWorld(t);
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

test('a failing account does not prevent another from fetching the thread live', {
  skip,
}, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
  const closedProxy = await startTcpProxy(t, 1);
  await addAccount({ name: 'broken', port: closedProxy.port });
  await addAccount();
  server.deliver(makeMail({ id: root }, part('text/plain', '7bit', 'From the other one.')));
  assert.match(assertLive(await resolveFresh()).text, /From the other one\./);
});

test('an untrusted certificate ends the connection before the password is sent', {
  skip,
}, async (t) => {
  const { addAccount, resolveFresh } = await startMailWorld(t);
  await addAccount({ caCertificate: null });
  assertCached(await resolveFresh(), /certificate that is not trusted/);
});

test('STARTTLS precedes the sign-in, and without TLS only private hosts are contacted', {
  skip,
}, async (t) => {
  const { server, addAccount, resolveFresh } = await startMailWorld(t);
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

test('a private host that the operator does not allow is not contacted', { skip }, async (t) => {
  const { server, addAccount, hub, workspaceId, runId } = await startMailWorld(t);
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
