import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { startDeviceLogin } from '../../src/devices/start-login.ts';
import { listAudit, makeOwner, PASSWORD } from '../support/people.ts';
import { readKept } from '../support/test-engine.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';

const { deviceApprovals } = consoleEndpoints;
const { start, poll } = endpoints.devices;
const MINUTE_MS = 60_000;

async function setup(t: TestContext) {
  const hub = await startTestHub(t);
  return { hub, ...(await makeOwner(hub)) };
}

async function startLogin(hub: TestHub, workspaceSlug = 'acme', machineName = 'build-7') {
  return hub.visitor().call(start, { workspaceSlug, machineName });
}

async function countTokens(hub: TestHub): Promise<number> {
  const row = await hub.database.reader.firstSql<{ n: number }>(
    'SELECT COUNT(*) AS n FROM tokens',
    [],
  );
  return row?.n ?? 0;
}

test('a machine logs in: start, pending, open, approve, and the token works', async (t) => {
  const { hub, browser, personId, workspaceId } = await setup(t);
  const login = await startLogin(hub);
  assert.match(login.userCode, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.equal(login.approvalUrl, `${hub.address}/device?id=${login.deviceId}`);
  assert.equal(login.intervalMs, 5_000);
  assert.equal(Date.parse(login.expiresAt), hub.clock.nowMs() + 10 * MINUTE_MS);
  const terminal = hub.visitor();
  const { deviceId, deviceSecret, userCode } = login;
  assert.deepEqual(await terminal.call(poll, { deviceId, deviceSecret }), {
    ok: true,
    status: 'pending',
    intervalMs: 5_000,
  });

  const opened = await browser.call(deviceApprovals.open, { deviceId });
  assert.equal(
    JSON.stringify(opened).includes(userCode.slice(0, 4)),
    false,
    'the code is not sent',
  );
  assert.equal(opened.workspaceName, 'Acme');
  assert.equal(opened.machineName, 'build-7');
  assert.equal(opened.requesterIp, '127.0.0.1');
  assert.equal(opened.status, 'pending');
  assert.equal(opened.needsPassword, false);
  const typed = userCode.toLowerCase().replace('-', ' ');
  const answer = { deviceId, decision: 'approve' as const, userCode: typed };
  assert.equal((await browser.call(deviceApprovals.answer, answer)).status, 'approved');

  const approved = await terminal.call(poll, { deviceId, deviceSecret });
  assert.equal(approved.status, 'approved');
  assert.equal(approved.workspaceId, workspaceId);
  assert.equal(approved.workspaceSlug, 'acme');
  const who = await hub
    .visitor()
    .withToken(approved.token ?? '')
    .call(endpoints.tokens.whoami, {});
  assert.equal(who.kind, 'device');
  assert.equal(who.principalId, personId);
  assert.equal(who.displayName, 'Ada Lovelace on build-7');
  assert.equal(Date.parse(who.expiresAt ?? ''), hub.clock.nowMs() + 90 * 24 * 60 * MINUTE_MS);
  const log = await listAudit(hub, workspaceId);
  assert.deepEqual(log.map(({ action, actor }) => [action, actor]).slice(-2), [
    ['device.approve', personId],
    ['token.mint', personId],
  ]);
});

test('an approved poll may be repeated until the session expires, and not after', async (t) => {
  const { hub, browser } = await setup(t);
  const { deviceId, deviceSecret, userCode } = await startLogin(hub);
  await browser.call(deviceApprovals.open, { deviceId });
  await browser.call(deviceApprovals.answer, { deviceId, decision: 'approve', userCode });
  const terminal = hub.visitor();
  const first = await terminal.call(poll, { deviceId, deviceSecret });
  hub.clock.advance(10 * MINUTE_MS - 1);
  assert.deepEqual(await terminal.call(poll, { deviceId, deviceSecret }), first);
  hub.clock.advance(1);
  assert.deepEqual(await terminal.call(poll, { deviceId, deviceSecret }), {
    ok: true,
    status: 'expired',
  });
});

test('the answer of start is the same whether or not the workspace exists', async (t) => {
  const { hub } = await setup(t);
  const [known, unknown] = [await startLogin(hub, 'acme'), await startLogin(hub, 'nowhere')];
  assert.deepEqual(Object.keys(known), Object.keys(unknown));
});

test('each early poll raises the interval by 5 s', async (t) => {
  const { hub } = await setup(t);
  const { deviceId, deviceSecret } = await startLogin(hub);
  const pollAfter = async (waitMs: number) => {
    hub.clock.advance(waitMs);
    return (await hub.visitor().call(poll, { deviceId, deviceSecret })).intervalMs;
  };
  assert.equal(await pollAfter(0), 5_000, 'the first poll cannot be early');
  assert.equal(await pollAfter(4_999), 10_000);
  assert.equal(await pollAfter(9_999), 15_000);
  assert.equal(await pollAfter(15_000), 15_000);
});

test('a wrong id and a wrong secret are answered alike', async (t) => {
  const { hub } = await setup(t);
  const { deviceId, deviceSecret } = await startLogin(hub);
  const terminal = hub.visitor();
  const answers = [
    await terminal.send(poll.path, { deviceId: 'dev_unknown', deviceSecret }),
    await terminal.send(poll.path, { deviceId, deviceSecret: `${deviceSecret}x` }),
  ];
  for (const { body } of answers) delete body.requestId;
  assert.equal(answers[0]?.body.error, 'DEVICE_SESSION_NOT_FOUND');
  assert.deepEqual(answers[0]?.body, answers[1]?.body);
  assert.equal(answers[0]?.status, answers[1]?.status);
});

test('an unanswered session expires after 10 minutes and cannot be approved', async (t) => {
  const { hub, browser } = await setup(t);
  const { deviceId, deviceSecret, userCode } = await startLogin(hub);
  await browser.call(deviceApprovals.open, { deviceId });
  hub.clock.advance(10 * MINUTE_MS);
  const answer = { deviceId, decision: 'approve' as const, userCode };
  assert.equal(await browser.codeOf(deviceApprovals.answer, answer), 'DEVICE_SESSION_CLOSED');
  assert.equal((await browser.call(deviceApprovals.open, { deviceId })).status, 'expired');
  const polled = await hub.visitor().call(poll, { deviceId, deviceSecret });
  assert.equal(polled.status, 'expired');
  assert.equal(await countTokens(hub), 0);
});

test('denying needs no code, is shown to the terminal and is final', async (t) => {
  const { hub, browser, workspaceId } = await setup(t);
  const { deviceId, deviceSecret, userCode } = await startLogin(hub);
  await browser.call(deviceApprovals.open, { deviceId });
  const deny = { deviceId, decision: 'deny' as const };
  assert.equal((await browser.call(deviceApprovals.answer, deny)).status, 'denied');
  assert.equal((await browser.call(deviceApprovals.answer, deny)).status, 'denied');
  const approve = { deviceId, decision: 'approve' as const, userCode };
  assert.equal(await browser.codeOf(deviceApprovals.answer, approve), 'DEVICE_SESSION_CLOSED');
  const polled = await hub.visitor().call(poll, { deviceId, deviceSecret });
  assert.deepEqual(polled, { ok: true, status: 'denied' });
  const actions = (await listAudit(hub, workspaceId)).map(({ action }) => action);
  assert.equal(actions.filter((action) => action === 'device.deny').length, 1);
});

test('an address has at most 100 open sessions, and more once they have expired', async (t) => {
  const { hub } = await setup(t);
  const codes = await Promise.all(
    Array.from({ length: 120 }, () => hub.visitor().codeOf(start, { workspaceSlug: 'acme' })),
  );
  assert.equal(codes.filter((code) => code === 'ok').length, 100);
  assert.equal(codes.filter((code) => code === 'RATE_LIMITED').length, 20);
  hub.clock.advance(10 * MINUTE_MS);
  assert.equal(await hub.visitor().codeOf(start, { workspaceSlug: 'acme' }), 'ok');
});

test('an address has at most 1,000 open sessions for all workspaces', async (t) => {
  const { hub } = await setup(t);
  // Nine for each of 111 workspaces, far below the limit of one.
  const begin = (at: number) =>
    startDeviceLogin(hub.deps, { workspaceSlug: `team-${at % 111}` }, '127.0.0.1');
  await Promise.all(Array.from({ length: 999 }, (_, at) => begin(at)));
  const codeOf = () => hub.visitor().codeOf(start, { workspaceSlug: 'acme' });
  assert.equal(await codeOf(), 'ok');
  assert.equal(await codeOf(), 'RATE_LIMITED');
  await startDeviceLogin(hub.deps, { workspaceSlug: 'acme' }, '203.0.113.9');
  hub.clock.advance(10 * MINUTE_MS);
  assert.equal(await codeOf(), 'ok');
});

test('neither token nor device secret is readable at rest', async (t) => {
  const { hub, browser } = await setup(t);
  const { deviceId, deviceSecret, userCode } = await startLogin(hub);
  await browser.call(deviceApprovals.open, { deviceId });
  await browser.call(deviceApprovals.answer, { deviceId, decision: 'approve', userCode });
  const { token } = await hub.visitor().call(poll, { deviceId, deviceSecret });
  assert.ok(token !== undefined);
  const bytes = await readKept(hub.dataDir);
  assert.ok(bytes.includes(deviceId), 'the database holds the session');
  for (const secret of [token, deviceSecret, PASSWORD]) {
    assert.equal(bytes.includes(secret), false);
  }
  for (const value of browser.cookies.values()) assert.equal(bytes.includes(value), false);
});
