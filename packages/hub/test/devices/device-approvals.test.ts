import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { addPerson, listAudit, makeOwner, PASSWORD, signInAs } from '../support/people.ts';
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

function wrongCodeFor(userCode: string): string {
  return userCode === 'BBBB-BBBB' ? 'CCCC-CCCC' : 'BBBB-BBBB';
}

test('only the console session that opened a device session answers it', async (t) => {
  const { hub, browser, workspaceId } = await setup(t);
  const { email } = await addPerson(hub, workspaceId, 'grace', 'admin');
  const other = await signInAs(hub, email);
  const again = await signInAs(hub, 'ada@acme.dev');
  const { deviceId, userCode } = await startLogin(hub);
  const answer = { deviceId, decision: 'approve' as const, userCode };
  assert.equal(await browser.codeOf(deviceApprovals.answer, answer), 'NOT_ALLOWED', 'not opened');
  await browser.call(deviceApprovals.open, { deviceId });
  for (const visitor of [other, again]) {
    const codes = [
      await visitor.codeOf(deviceApprovals.open, { deviceId }),
      await visitor.codeOf(deviceApprovals.answer, answer),
      await visitor.codeOf(deviceApprovals.answer, { deviceId, decision: 'deny' }),
    ];
    assert.deepEqual(new Set(codes), new Set(['DEVICE_OPENED_ELSEWHERE']));
  }
  assert.equal((await browser.call(deviceApprovals.answer, answer)).status, 'approved');
});

for (const [who, role] of [
  ['a viewer', 'viewer'],
  ['a stranger', null],
] as const) {
  test(`${who} neither binds nor approves a device session`, async (t) => {
    const { hub, browser, workspaceId } = await setup(t);
    const { email } = await addPerson(hub, workspaceId, 'eve', role);
    const eve = await signInAs(hub, email);
    const { deviceId, userCode } = await startLogin(hub);
    const opened = await eve.call(deviceApprovals.open, { deviceId });
    assert.equal(opened.workspaceName, role === null ? null : 'Acme');
    for (const decision of ['approve', 'deny'] as const) {
      const answer = { deviceId, decision, userCode };
      assert.equal(await eve.codeOf(deviceApprovals.answer, answer), 'NOT_ALLOWED');
    }
    assert.equal((await browser.call(deviceApprovals.open, { deviceId })).status, 'pending');
  });
}

test('a person who lost their role after opening can no longer approve', async (t) => {
  const { hub, workspaceId } = await setup(t);
  const { email, personId } = await addPerson(hub, workspaceId, 'grace', 'member');
  const grace = await signInAs(hub, email);
  const { deviceId, userCode } = await startLogin(hub);
  await grace.call(deviceApprovals.open, { deviceId });
  await hub.database.write(null, (tx) =>
    tx.runSql("UPDATE memberships SET role = 'viewer' WHERE person_id = ?", [personId]),
  );
  const answer = { deviceId, decision: 'approve' as const, userCode };
  assert.equal(await grace.codeOf(deviceApprovals.answer, answer), 'NOT_ALLOWED');
  assert.equal(await countTokens(hub), 0);
});

test('ten minutes after the sign-in an approval requires the password again', async (t) => {
  const { hub, browser } = await setup(t);
  hub.clock.advance(10 * MINUTE_MS + 1);
  const { deviceId, userCode } = await startLogin(hub);
  assert.equal((await browser.call(deviceApprovals.open, { deviceId })).needsPassword, true);
  const answer = { deviceId, decision: 'approve' as const, userCode };
  assert.equal(await browser.codeOf(deviceApprovals.answer, answer), 'CONFIRMATION_REQUIRED');
  const wrong = { ...answer, password: 'not my password' };
  assert.equal(await browser.codeOf(deviceApprovals.answer, wrong), 'SIGN_IN_FAILED');
  const state = await browser.call(consoleEndpoints.session.get, {});
  assert.notEqual(state.person, null, 'the console session continues');
  const right = { ...answer, password: PASSWORD };
  assert.equal((await browser.call(deviceApprovals.answer, right)).status, 'approved');
  const next = await startLogin(hub);
  const { needsPassword } = await browser.call(deviceApprovals.open, { deviceId: next.deviceId });
  assert.equal(needsPassword, false, 'the proof counts for ten minutes');
});

test('a sign-in that lies ahead of the clock is not recent', async (t) => {
  const { hub, browser } = await setup(t);
  hub.clock.advance(-30_000);
  const { deviceId, userCode } = await startLogin(hub);
  assert.equal((await browser.call(deviceApprovals.open, { deviceId })).needsPassword, true);
  const answer = { deviceId, decision: 'approve' as const, userCode };
  assert.equal(await browser.codeOf(deviceApprovals.answer, answer), 'CONFIRMATION_REQUIRED');
});

test('the fifth wrong code denies the session, and a missing code does not count', async (t) => {
  const { hub, browser, workspaceId } = await setup(t);
  const { deviceId, deviceSecret, userCode } = await startLogin(hub);
  await browser.call(deviceApprovals.open, { deviceId });
  const approve = { deviceId, decision: 'approve' as const };
  assert.equal(await browser.codeOf(deviceApprovals.answer, approve), 'DEVICE_CODE_MISMATCH');
  const codes: string[] = [];
  for (const typed of [wrongCodeFor(userCode), 'BCD', '', 'ÄÖÜ-1234', wrongCodeFor(userCode)]) {
    codes.push(await browser.codeOf(deviceApprovals.answer, { ...approve, userCode: typed }));
  }
  assert.deepEqual(new Set(codes), new Set(['DEVICE_CODE_MISMATCH']));
  const right = { ...approve, userCode };
  assert.equal(await browser.codeOf(deviceApprovals.answer, right), 'DEVICE_SESSION_CLOSED');
  const polled = await hub.visitor().call(poll, { deviceId, deviceSecret });
  assert.equal(polled.status, 'denied');
  const last = (await listAudit(hub, workspaceId)).at(-1);
  assert.equal(last?.action, 'device.deny');
  assert.equal(JSON.parse(last?.data ?? '').cause, 'wrong-codes');
});

test('after 20 wrong codes an address waits until the first is an hour old', async (t) => {
  const { hub, browser } = await setup(t);
  const typeWrongly = async () => {
    const { deviceId, userCode } = await startLogin(hub);
    await browser.call(deviceApprovals.open, { deviceId });
    const typed = wrongCodeFor(userCode);
    const answer = { deviceId, decision: 'approve' as const, userCode: typed, password: PASSWORD };
    return browser.send(deviceApprovals.answer.path, answer);
  };
  for (let count = 0; count < 20; count++) {
    assert.equal((await typeWrongly()).body.error, 'DEVICE_CODE_MISMATCH');
  }
  const refused = await typeWrongly();
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '3600');
  hub.clock.advance(60 * MINUTE_MS);
  assert.equal((await typeWrongly()).body.error, 'DEVICE_CODE_MISMATCH');
});

test('fifty approvals at once mint one token', async (t) => {
  const { hub, browser, workspaceId } = await setup(t);
  const { deviceId, userCode } = await startLogin(hub);
  await browser.call(deviceApprovals.open, { deviceId });
  const answer = { deviceId, decision: 'approve' as const, userCode };
  const codes = await Promise.all(
    Array.from({ length: 50 }, () => browser.codeOf(deviceApprovals.answer, answer)),
  );
  assert.deepEqual(new Set(codes), new Set(['ok']));
  assert.equal(await countTokens(hub), 1);
  const actions = (await listAudit(hub, workspaceId)).map(({ action }) => action);
  assert.equal(actions.filter((action) => action === 'token.mint').length, 1);
});

test('of concurrent approvals and denials one is accepted', async (t) => {
  const { hub, browser } = await setup(t);
  const { deviceId, deviceSecret, userCode } = await startLogin(hub);
  await browser.call(deviceApprovals.open, { deviceId });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      browser.send(deviceApprovals.answer.path, {
        deviceId,
        decision: index % 2 === 0 ? 'approve' : 'deny',
        userCode,
      }),
    ),
  );
  const statuses = new Set(answers.map(({ body }) => body.status ?? body.error));
  const { status } = await hub.visitor().call(poll, { deviceId, deviceSecret });
  assert.deepEqual(statuses, new Set([status, 'DEVICE_SESSION_CLOSED']));
  assert.equal(await countTokens(hub), status === 'approved' ? 1 : 0);
});
