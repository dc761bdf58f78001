import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { createBareServer } from '../support/bare-server.ts';
import { addPerson, makeOwner, ownerDraft, PASSWORD } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';

const { session, deviceApprovals } = consoleEndpoints;
const { start } = endpoints.devices;

const STRANGER = '203.0.113.9';
const OFFICE = '198.51.100.20';

/** A hub whose proxy is this machine. */
async function setup(t: TestContext, trustedProxies: string[] = ['127.0.0.0/8']) {
  const hub = await startTestHub(t, { config: { trustedProxies } });
  const { browser, workspaceId } = await makeOwner(hub);
  const signIn = async (address: string, email: string, password: string) => {
    const headers = { 'x-forwarded-for': address };
    const answer = await hub.visitor().send(session.signIn.path, { email, password }, headers);
    return answer.status;
  };
  return { hub, browser, workspaceId, signIn };
}

test('behind a trusted proxy, a stranger who guesses passwords delays no one else', async (t) => {
  const { signIn } = await setup(t);
  for (let count = 0; count < 50; count++) {
    assert.equal(await signIn(STRANGER, `nobody-${count}@acme.dev`, 'a wrong guess'), 401);
  }
  assert.equal(await signIn(STRANGER, 'nobody@acme.dev', 'a wrong guess'), 429);
  assert.equal(await signIn(OFFICE, ownerDraft.email, PASSWORD), 200);
});

test('addresses of one IPv6 network are delayed together', async (t) => {
  const { hub, workspaceId, signIn } = await setup(t);
  const { email } = await addPerson(hub, workspaceId, 'grace', 'member');
  for (let host = 1; host <= 5; host++) {
    assert.equal(await signIn(`2001:db8:0:7::${host}`, email, 'a wrong guess'), 401);
  }
  assert.equal(await signIn('2001:db8:0:7:aaaa::1', email, PASSWORD), 429);
  assert.equal(await signIn('2001:db8:0:8::1', email, PASSWORD), 200);
});

test('the approval page names the address of the machine, not of the proxy', async (t) => {
  const { hub, browser } = await setup(t);
  const body = { workspaceSlug: ownerDraft.workspaceSlug, machineName: 'build-7' };
  // A client can put anything before the entry that the proxy adds.
  const headers = { 'x-forwarded-for': `192.0.2.1, ${OFFICE}` };
  const { body: login } = await hub.visitor().send(start.path, body, headers);
  const opened = await browser.call(deviceApprovals.open, { deviceId: String(login.deviceId) });
  assert.equal(opened.requesterIp, OFFICE);
});

test('without a trusted proxy, forwarding headers are ignored', async (t) => {
  const { hub, browser } = await setup(t, ['192.0.2.99']);
  const body = { workspaceSlug: ownerDraft.workspaceSlug, machineName: 'build-7' };
  const headers = { 'x-forwarded-for': OFFICE };
  const { body: login } = await hub.visitor().send(start.path, body, headers);
  const opened = await browser.call(deviceApprovals.open, { deviceId: String(login.deviceId) });
  assert.equal(opened.requesterIp, '127.0.0.1');
});

test('device logins for other workspaces do not block those for this one', async (t) => {
  const { hub } = await setup(t);
  const flood = (workspaceSlug: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, () => hub.visitor().codeOf(start, { workspaceSlug })),
    );
  await flood('somewhere', 101);
  assert.deepEqual(await flood('somewhere', 1), ['RATE_LIMITED']);
  assert.deepEqual(await flood(ownerDraft.workspaceSlug, 1), ['ok']);
});

test('a proxy that is not configured is warned of once', async (t) => {
  const log = new PassThrough();
  const { server } = createBareServer({ level: 'warn', stream: log });
  t.after(() => server.close());
  await server.inject({ url: '/' });
  assert.equal(log.read(), null, 'a direct request is nothing to warn of');
  for (const name of ['x-forwarded-for', 'forwarded']) {
    await server.inject({ url: '/', headers: { [name]: OFFICE } });
  }
  const lines = String(log.read()).trim().split('\n');
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /127\.0\.0\.1.*SVC_TRUSTED_PROXIES/);
});
