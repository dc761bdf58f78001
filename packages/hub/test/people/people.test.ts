import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, consolePathOf, endpoints } from '@signalbox/contract';
import { SideThread } from '../../src/base/side-thread.ts';
import { createPasswordHasher } from '../../src/people/passwords.ts';
import { addPerson, listAudit, makeOwner, PASSWORD, signInAs } from '../support/people.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';
import type { Visitor } from '../support/visitor.ts';

const { session } = consoleEndpoints;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const email = 'ada@acme.dev';

async function setup(t: TestContext) {
  const hub = await startTestHub(t);
  return { hub, ...(await makeOwner(hub)) };
}

async function isSignedIn(browser: Visitor): Promise<boolean> {
  return (await browser.call(session.get, {})).person !== null;
}

test('a person signs in with any spelling of their address, and out again', async (t) => {
  const { hub, personId, workspaceId } = await setup(t);
  const browser = hub.visitor();
  const workspaceRefusal = 'Sign in to create a workspace.';
  const signedOut = {
    ok: true,
    person: null,
    workspaces: [],
    workspaceRefusal,
    firstOwnerPending: false,
  };
  assert.deepEqual(await browser.call(session.get, {}), signedOut);
  const state = await browser.call(session.signIn, {
    email: ' ADA@Acme.dev ',
    password: PASSWORD,
  });
  assert.deepEqual(state.person, { personId, email, name: 'Ada Lovelace' });
  const changesAfter = state.workspaces[0]?.changesAfter;
  const membership = { workspaceId, slug: 'acme', name: 'Acme', role: 'owner', changesAfter };
  assert.deepEqual(state.workspaces, [membership]);
  assert.deepEqual(await browser.call(session.get, {}), state);
  const secret = browser.cookies.get('sbx_session');
  assert.ok(secret !== undefined);
  await browser.call(session.signOut, {});
  assert.equal(browser.cookies.has('sbx_session'), false, 'the cookie is deleted');
  browser.cookies.set('sbx_session', secret);
  assert.equal(await isSignedIn(browser), false, 'and not valid any more');
  await hub.visitor().call(session.signOut, {});
  const actions = (await listAudit(hub, workspaceId)).map(({ action }) => action);
  assert.deepEqual(actions, ['first-owner.create', 'session.sign-in']);
});

test('an unknown address and a wrong password are answered alike after equal work', async (t) => {
  const hasher = createPasswordHasher(new SideThread());
  const verified: (string | null)[] = [];
  const hub = await startTestHub(t, {
    passwords: {
      hash: hasher.hash,
      verify(password, encoded) {
        verified.push(encoded);
        return hasher.verify(password, encoded);
      },
    },
  });
  await makeOwner(hub);
  const refusals = [];
  for (const tried of [email, 'unknown@acme.dev']) {
    const input = { email: tried, password: 'a wrong password' };
    const { status, body } = await hub.visitor().send(session.signIn.path, input);
    refusals.push({ status, ...body, requestId: '' });
  }
  assert.equal(refusals[0]?.status, 401);
  assert.deepEqual(refusals[0], refusals[1]);
  assert.equal(verified.length, 2);
  assert.match(verified[0] ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(verified[1], null, 'an unknown address is verified against no account');
});

test('failures are throttled per account and address, and no person is locked out', async (t) => {
  const { hub, workspaceId } = await setup(t);
  const other = await addPerson(hub, workspaceId, 'grace', 'member');
  const tryAs = (tried: string, password: string) =>
    hub.visitor().send(session.signIn.path, { email: tried, password });
  const codes: unknown[] = [];
  for (let count = 0; count < 5; count++) codes.push((await tryAs(email, 'wrong one')).body.error);
  assert.deepEqual(new Set(codes), new Set(['SIGN_IN_FAILED']));
  const limited = await tryAs(email, PASSWORD);
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '1']);
  assert.equal((await tryAs(other.email, PASSWORD)).status, 200, 'other people sign in');
  hub.clock.advance(1_000);
  assert.equal((await tryAs(email, 'wrong one')).body.error, 'SIGN_IN_FAILED');
  assert.equal((await tryAs(email, PASSWORD)).headers.get('retry-after'), '2', 'it doubles');
  hub.clock.advance(2_000);
  assert.equal((await tryAs(email, PASSWORD)).status, 200);
  assert.equal(
    (await tryAs(email, 'wrong one')).body.error,
    'SIGN_IN_FAILED',
    'and the count starts again',
  );
});

test('a browser in which the person has signed in is not delayed by guesses of its address', async (t) => {
  const { hub } = await setup(t);
  const browser = await signInAs(hub, email);
  const other = hub.visitor();
  const tryAs = async (visitor: Visitor, password: string) =>
    (await visitor.send(session.signIn.path, { email, password })).status;
  for (let count = 0; count < 5; count++) assert.equal(await tryAs(other, 'wrong one'), 401);
  assert.equal(await tryAs(other, PASSWORD), 429);
  await browser.call(session.signOut, {});
  assert.equal(await tryAs(browser, PASSWORD), 200);
  for (let count = 0; count < 5; count++) assert.equal(await tryAs(browser, 'wrong one'), 401);
  assert.equal(await tryAs(browser, PASSWORD), 429, 'its own guesses are delayed');
  hub.clock.advance(1_000);
  assert.equal(await tryAs(other, PASSWORD), 200);
  const forged = hub.visitor();
  for (const name of browser.cookies.keys()) forged.cookies.set(name, 'AAAA.BBBB');
  for (let count = 0; count < 5; count++) await tryAs(forged, 'wrong one');
  assert.equal(await tryAs(forged, PASSWORD), 429, 'a forged cookie makes no browser known');
});

test('concurrent attempts do not bypass the throttle', async (t) => {
  const { hub } = await setup(t);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () =>
      hub.visitor().codeOf(session.signIn, { email, password: 'a wrong password' }),
    ),
  );
  assert.equal(answers.filter((code) => code === 'SIGN_IN_FAILED').length, 5);
  assert.equal(answers.filter((code) => code === 'RATE_LIMITED').length, 25);
});

test('each sign-in creates a new session and ends the one that the request carries', async (t) => {
  const { hub } = await setup(t);
  const browser = await signInAs(hub, email);
  const first = browser.cookies.get('sbx_session') ?? '';
  await browser.call(session.signIn, { email, password: PASSWORD });
  assert.notEqual(browser.cookies.get('sbx_session'), first);
  assert.equal(await isSignedIn(browser), true);
  const old = hub.visitor();
  old.cookies.set('sbx_session', first);
  assert.equal(await isSignedIn(old), false);
});

/** The use of a session is written after the answer, which does not wait for it. */
function untilSeen({ database, clock }: TestHub): Promise<void> {
  const readSeenAt = () =>
    database.reader.firstSql<{ at: number }>('SELECT MAX(last_seen_at) AS at FROM sessions', []);
  return until('the use is noted', async () => (await readSeenAt())?.at === clock.nowMs());
}

test('a session expires after 8 hours without use', async (t) => {
  const { hub, browser } = await setup(t);
  for (const waitMs of [8 * HOUR_MS - 1, 8 * HOUR_MS - 1]) {
    hub.clock.advance(waitMs);
    assert.equal(await isSignedIn(browser), true);
    await untilSeen(hub);
  }
  hub.clock.advance(8 * HOUR_MS);
  assert.equal(await isSignedIn(browser), false);
  assert.equal(await browser.codeOf(session.list, {}), 'SESSION_REQUIRED');
});

test('a session that was used ahead of the clock has ended, but for the difference of two hubs', async (t) => {
  const { hub, browser } = await setup(t);
  hub.clock.advance(-30_000);
  assert.equal(await isSignedIn(browser), true);
  hub.clock.advance(-HOUR_MS);
  assert.equal(await isSignedIn(browser), false);
});

test('a session expires after 7 days even when it is used', async (t) => {
  const { hub, browser } = await setup(t);
  const hoursInAll = 7 * 24;
  for (let hours = 0; hours < hoursInAll - 4; hours += 4) {
    hub.clock.advance(4 * HOUR_MS);
    assert.equal(await isSignedIn(browser), true, `after ${hours + 4} hours`);
    await untilSeen(hub);
  }
  hub.clock.advance(4 * HOUR_MS);
  assert.equal(await isSignedIn(browser), false);
});

test('a person lists their own sessions and ends any of them at once', async (t) => {
  const { hub, browser, workspaceId } = await setup(t);
  const stranger = await signInAs(hub, (await addPerson(hub, workspaceId, 'eve', 'admin')).email);
  hub.clock.advance(MINUTE_MS);
  const phone = await signInAs(hub, email);
  const { sessions } = await phone.call(session.list, {});
  assert.deepEqual(
    sessions.map(({ current, ip }) => [current, ip]),
    [
      [true, '127.0.0.1'],
      [false, '127.0.0.1'],
    ],
  );
  assert.equal(Date.parse(sessions[0]?.expiresAt ?? ''), hub.clock.nowMs() + 8 * HOUR_MS);
  const sessionId = sessions[1]?.sessionId ?? '';
  assert.deepEqual(await stranger.call(session.revoke, { sessionId }), {
    ok: true,
    revoked: false,
  });
  assert.equal(await isSignedIn(browser), true, 'a stranger ends nothing');
  assert.deepEqual(await phone.call(session.revoke, { sessionId }), { ok: true, revoked: true });
  assert.equal(await isSignedIn(browser), false);
  assert.deepEqual(await phone.call(session.revoke, { sessionId }), { ok: true, revoked: false });
  await phone.call(session.revoke, { sessionId: sessions[0]?.sessionId ?? '' });
  assert.equal(
    phone.cookies.has('sbx_session'),
    false,
    'ending the current one deletes its cookie',
  );
});

test('the cookie is HttpOnly and SameSite, and under TLS bound to host and TLS', async (t) => {
  for (const [baseUrl, name] of [
    ['http://127.0.0.1:4400', 'sbx_session'],
    ['https://signalbox.acme.dev', '__Host-sbx_session'],
  ] as const) {
    const hub = await startTestHub(t, { config: { baseUrl } });
    await makeOwner(hub);
    const { headers } = await hub
      .visitor()
      .send(session.signIn.path, { email, password: PASSWORD });
    const [line = ''] = headers.getSetCookie();
    const [pair = '', ...attributes] = line.split('; ');
    assert.equal(pair.split('=')[0], name);
    assert.ok((pair.split('=')[1] ?? '').length >= 43, '256 bits');
    const isSecure = baseUrl.startsWith('https:');
    const expected = ['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax'];
    assert.deepEqual(attributes.sort(), isSecure ? [...expected, 'Secure'].sort() : expected);
    const plain = hub.visitor();
    plain.cookies.set('sbx_session', pair.split('=')[1] ?? '');
    assert.equal(await isSignedIn(plain), !isSecure, 'only the name of this hub counts');
  }
});

test('console calls from other origins are refused', async (t) => {
  const hub = await startTestHub(t, { config: { baseUrl: 'https://signalbox.acme.dev' } });
  const host = new URL(hub.address).host;
  const rows: [headers: Record<string, string>, allowed: boolean][] = [
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://signalbox.acme.dev' }, false],
    [{ 'sec-fetch-site': '', origin: 'https://signalbox.acme.dev' }, false],
    [{ origin: 'https://signalbox.acme.dev' }, true],
    [{ origin: `http://${host}` }, true],
    [{ origin: `https://${host}` }, true],
    [{ origin: 'https://evil.acme.dev' }, false],
    [{ origin: 'https://signalbox.acme.dev.evil.example' }, false],
    [{ origin: `ftp://${host}` }, false],
    [{ origin: 'null' }, false],
    [{}, false],
  ];
  for (const [headers, allowed] of rows) {
    for (const { path } of [session.signIn, session.signOut, session.list, session.get]) {
      const response = await fetch(hub.address + path, {
        method: 'POST',
        body: '{"email":"a@b","password":"x"}',
        headers: { 'content-type': 'application/json', ...headers },
      });
      const { error } = (await response.json()) as { error?: string };
      assert.equal(error !== 'NOT_ALLOWED', allowed, `${path} ${JSON.stringify(headers)}`);
    }
  }
});

test('requests of one second share what was read of session and role, and no ended one', async (t) => {
  const { hub, browser, workspaceId } = await setup(t);
  const { email: address } = await addPerson(hub, workspaceId, 'grace', 'member');
  const member = await signInAs(hub, address);
  const reads = countAccessReads(t, hub);
  const readTokens = (visitor: Visitor) =>
    visitor.send(consolePathOf(endpoints.agents.list), { workspaceId });
  for (let round = 0; round < 5; round += 1) {
    assert.equal((await readTokens(member)).status, 200);
  }
  assert.deepEqual(reads.take(), { sessions: 1, memberships: 1 });
  hub.clock.advance(1_001);
  assert.equal((await readTokens(member)).status, 200);
  assert.deepEqual(reads.take(), { sessions: 1, memberships: 1 }, 'read again a second later');

  const { members: rows } = await browser.call(consoleEndpoints.members.list, { workspaceId });
  const personId = rows.find(({ email: each }) => each === address)?.personId ?? '';
  await browser.call(consoleEndpoints.members.remove, { workspaceId, personId });
  assert.equal((await readTokens(member)).body.error, 'WORKSPACE_NOT_FOUND');
  const secret = browser.cookies.get('sbx_session') ?? '';
  assert.equal((await readTokens(browser)).status, 200);
  await browser.call(session.signOut, {});
  browser.cookies.set('sbx_session', secret);
  assert.equal((await readTokens(browser)).body.error, 'SESSION_REQUIRED');
});

/** Counts the statements that look for one session or one membership. */
function countAccessReads(t: TestContext, { database: { reader } }: TestHub) {
  let counts = { sessions: 0, memberships: 0 };
  const run = reader.firstSql;
  t.mock.method(reader, 'firstSql', (sql: string, values: readonly string[]) => {
    if (/FROM sessions/.test(sql)) counts.sessions += 1;
    if (/FROM memberships/.test(sql)) counts.memberships += 1;
    return run.call(reader, sql, values);
  });
  return {
    take() {
      const taken = counts;
      counts = { sessions: 0, memberships: 0 };
      return taken;
    },
  };
}
