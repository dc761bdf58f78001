import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints, SIGN_IN_LINK_MS } from '@signalbox/contract';
import { systemClock } from '../../src/base/clock.ts';
import { createPasswordReset } from '../../src/people/reset-password.ts';
import { createSignInLink } from '../../src/people/sign-in-link.ts';
import { readConfig } from '../../src/start/config.ts';
import { findRunningHub, openLocalAccess } from '../../src/start/local-access.ts';
import { listAudit, makeOwner, signInAs } from '../support/people.ts';
import { takeDatabase } from '../support/test-engine.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';

const { session, passwordResets } = consoleEndpoints;

const makeLink = (hub: TestHub, personId: string): Promise<string> =>
  hub.database.write(null, (tx) => createSignInLink(tx, { personId, createdBy: 'operator' }));

const use = (hub: Pick<TestHub, 'visitor'>, linkToken: string) =>
  hub.visitor().codeOf(session.signInByLink, { linkToken });

test('a link signs its person in once, and the audit log says so', async (t) => {
  const hub = await startTestHub(t);
  const { personId, workspaceId } = await makeOwner(hub);
  const linkToken = await makeLink(hub, personId);
  const browser = hub.visitor();
  const state = await browser.call(session.signInByLink, { linkToken });
  assert.equal(state.person?.personId, personId);
  assert.deepEqual(await browser.call(session.get, {}), state);
  assert.equal(await use(hub, linkToken), 'SIGN_IN_LINK_INVALID');
  const log = (await listAudit(hub, workspaceId)).map(({ action, actor }) => [action, actor]);
  assert.deepEqual(log.slice(-2), [
    ['sign-in-link.create', 'operator'],
    ['session.sign-in', personId],
  ]);
});

test('of 20 requests with one link, one signs in', async (t) => {
  const hub = await startTestHub(t);
  const { personId } = await makeOwner(hub);
  const linkToken = await makeLink(hub, personId);
  const codes = await Promise.all(Array.from({ length: 20 }, () => use(hub, linkToken)));
  assert.equal(codes.filter((code) => code === 'ok').length, 1);
  assert.equal(codes.filter((code) => code === 'SIGN_IN_LINK_INVALID').length, 19);
});

test('a link ends after an hour, by 16 newer ones, and by a new password', async (t) => {
  const hub = await startTestHub(t);
  const { personId } = await makeOwner(hub);
  const [early, aged] = [await makeLink(hub, personId), await makeLink(hub, personId)];
  hub.clock.advance(SIGN_IN_LINK_MS - 1);
  assert.equal(await use(hub, early), 'ok');
  hub.clock.advance(1);
  assert.equal(await use(hub, aged), 'SIGN_IN_LINK_INVALID');

  const oldest = await makeLink(hub, personId);
  const newer = [];
  for (let n = 0; n < 16; n++) newer.push(await makeLink(hub, personId));
  assert.equal(await use(hub, oldest), 'SIGN_IN_LINK_INVALID');
  assert.equal(await use(hub, newer[0] ?? ''), 'ok');

  const reset = await hub.database.write(null, (tx) =>
    createPasswordReset(tx, { email: 'ada@acme.dev', createdBy: 'operator' }),
  );
  await hub.visitor().call(passwordResets.setPassword, {
    linkToken: reset?.linkToken ?? '',
    newPassword: 'seven copper otters waiting',
  });
  assert.equal(await use(hub, newer[1] ?? ''), 'SIGN_IN_LINK_INVALID');
});

test('a link replaces the session of the browser', async (t) => {
  const hub = await startTestHub(t);
  const { personId } = await makeOwner(hub);
  const browser = await signInAs(hub, 'ada@acme.dev');
  const linkToken = await makeLink(hub, personId);
  const before = (await browser.call(session.list, {})).sessions.length;
  await browser.call(session.signInByLink, { linkToken });
  assert.equal((await browser.call(session.list, {})).sessions.length, before);
});

const owner = {
  name: 'Ada',
  email: 'ada@acme.dev',
  workspaceSlug: 'ada',
  workspaceName: 'Ada',
};

async function startHub(t: TestContext) {
  const hub = await startTestHub(t, { clock: systemClock });
  const taken = await takeDatabase(hub.dataDir);
  t.after(() => taken.release());
  const config = { ...readConfig({}), ...taken.config, dataDir: hub.dataDir };
  const baseUrl = (await findRunningHub(config)) ?? '';
  const open = (login: { personId: string; workspaceId: string } | null) =>
    openLocalAccess(config, { baseUrl, owner, machineName: 'laptop', login });
  return { hub, baseUrl, open };
}

const tokenOf = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? '';

test('the person at the machine of a new hub gets an owner, a link and a token', async (t) => {
  const { hub, baseUrl, open } = await startHub(t);
  assert.equal(baseUrl, hub.hub.baseUrl);
  const first = await open(null);
  assert.deepEqual([first.isNew, first.workspaceSlug], [true, 'ada']);
  assert.ok(first.signInUrl.startsWith(`${baseUrl}/sign-in-link#token=`));
  const browser = hub.visitor();
  const linkToken = tokenOf(first.signInUrl);
  const state = await browser.call(session.signInByLink, { linkToken });
  assert.deepEqual(
    state.workspaces.map(({ slug, role }) => [slug, role]),
    [['ada', 'owner']],
  );
  const personId = state.person?.personId ?? '';
  const machine = hub.visitor().withToken(first.token);
  const who = await machine.call(endpoints.tokens.whoami, {});
  assert.deepEqual([who.principalId, who.workspaceSlug], [personId, 'ada']);
  const password = { email: owner.email, password: '' };
  for (const guess of ['x', 'ada']) {
    const attempt = { ...password, password: guess };
    assert.equal(await hub.visitor().codeOf(session.signIn, attempt), 'SIGN_IN_FAILED');
  }

  const again = await open({ personId, workspaceId: first.workspaceId });
  assert.deepEqual([again.isNew, again.token], [false, null]);
  assert.equal(await use(hub, tokenOf(again.signInUrl)), 'ok');
});

test('on a hub with people, the machine gets the access of its first owner', async (t) => {
  const { hub, open } = await startHub(t);
  const { workspaceId } = await makeOwner(hub);
  const { isNew, person, ...access } = await open(null);
  assert.deepEqual([isNew, person.name], [false, 'Ada Lovelace']);
  assert.equal(access.workspaceId, workspaceId);
  assert.notEqual(access.token, null);
});
