import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { createPasswordReset } from '../../src/people/reset-password.ts';
import { CANARY } from '../support/api-world.ts';
import {
  type ConsoleScenario,
  linkTokenOf,
  runConsoleScenario,
  startConsoleWorld,
} from '../support/console-world.ts';
import { addPerson, listAudit, logDeviceIn, PASSWORD, signInAs } from '../support/people.ts';
import type { TestHub } from '../support/test-hub.ts';

const { passwordResets, session, account, serviceTokens, workspaceSettings, members, invitations } =
  consoleEndpoints;
const DAY_MS = 86_400_000;
const NEW_PASSWORD = 'seven copper otters waiting';

/** Creates a link as the operator does. Returns its token. */
async function makeLink(hub: TestHub, email: string): Promise<string> {
  const made = await hub.database.write(null, (tx) =>
    createPasswordReset(tx, { email, createdBy: 'operator' }),
  );
  assert.ok(made !== null, `${email} has an account`);
  return made.linkToken;
}

const statusOf = async (hub: TestHub, linkToken: string) =>
  (await hub.visitor().call(passwordResets.check, { linkToken })).status;

const use = (hub: TestHub, linkToken: string, newPassword = NEW_PASSWORD) =>
  hub.visitor().codeOf(passwordResets.setPassword, { linkToken, newPassword });

test('password resets: requests and answers', async (t) => {
  const world = await startConsoleWorld(t);
  const { check, setPassword } = passwordResets;
  const linkToken = await makeLink(world.hub, ' Ada@acme.dev');
  const scenarios: ConsoleScenario[] = [
    {
      name: 'the holder of a link sees whose password it sets',
      endpoint: check,
      as: 'visitor',
      body: { linkToken },
      holds: { status: 'open', reset: { email: 'ada@acme.dev' } },
    },
    {
      name: 'an unknown link shows nothing',
      endpoint: check,
      as: 'visitor',
      body: { linkToken: 'x' },
      holds: { status: 'unknown', reset: null },
    },
    {
      name: 'a link that does not exist sets no password',
      endpoint: setPassword,
      as: 'visitor',
      body: { linkToken: 'x', newPassword: NEW_PASSWORD },
      error: 'PASSWORD_RESET_LINK_INVALID',
    },
    {
      name: 'a short password is refused',
      endpoint: setPassword,
      as: 'visitor',
      body: { linkToken, newPassword: 'seven' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'a common password is refused',
      endpoint: setPassword,
      as: 'visitor',
      body: { linkToken, newPassword: 'Password1!' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'a refused password leaves the link open',
      endpoint: check,
      as: 'visitor',
      body: { linkToken },
      holds: { status: 'open' },
    },
  ];
  for (const scenario of scenarios) {
    await t.test(scenario.name, () => runConsoleScenario(world, scenario));
  }
  const kept = await world.hub.database.reader.allSql('SELECT * FROM password_resets', []);
  assert.equal(kept.length, 1);
  assert.ok(!JSON.stringify(kept).includes(linkToken), 'the token is not stored');
});

test('an address without an account gets no link', async (t) => {
  const { hub } = await startConsoleWorld(t);
  const made = await hub.database.write(null, (tx) =>
    createPasswordReset(tx, { email: 'no@acme.dev', createdBy: 'operator' }),
  );
  assert.equal(made, null);
});

test('the new password works, the old one does not, and the person is signed in', async (t) => {
  const { hub, workspaceId, personIds } = await startConsoleWorld(t);
  const linkToken = await makeLink(hub, 'ada@acme.dev');
  const browser = hub.visitor();
  const state = await browser.call(passwordResets.setPassword, {
    linkToken,
    newPassword: NEW_PASSWORD,
  });
  assert.equal(state.person?.personId, personIds.owner);
  assert.deepEqual(
    state.workspaces.map((each) => each.workspaceId),
    [workspaceId],
  );
  assert.deepEqual((await browser.call(session.get, {})).person, state.person);
  const signIn = (password: string) =>
    hub.visitor().codeOf(session.signIn, { email: 'ada@acme.dev', password });
  assert.equal(await signIn(PASSWORD), 'SIGN_IN_FAILED');
  assert.equal(await signIn(NEW_PASSWORD), 'ok');
  assert.equal(await statusOf(hub, linkToken), 'used');
  assert.equal(await use(hub, linkToken), 'PASSWORD_RESET_LINK_INVALID');
});

test('sessions and tokens of the person end, and those of others do not', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers, personIds } = world;
  const { owner, admin } = browsers;
  const second = await signInAs(hub, 'ada@acme.dev');
  const { workspace } = await owner.call(workspaceSettings.create, { slug: 'beta', name: 'Beta' });
  // Tokens created in a workspace that the person has left since end as well.
  const beta = workspace.workspaceId;
  await addPerson(hub, beta, 'keeper', 'owner');
  const tokens = {
    device: await logDeviceIn(hub, owner),
    minted: (await owner.call(serviceTokens.mint, { workspaceId, name: 'CI' })).token,
    left: (await owner.call(serviceTokens.mint, { workspaceId: beta, name: 'CI' })).token,
    adminDevice: await logDeviceIn(hub, admin),
    adminMinted: (await admin.call(serviceTokens.mint, { workspaceId, name: 'bot' })).token,
  };
  await owner.call(members.leave, { workspaceId: beta, revokeServiceTokens: false });
  const reach = async (token: string) =>
    (await hub.visitor().withToken(token).send(endpoints.tokens.whoami.path, {})).body.error;
  for (const token of Object.values(tokens)) assert.equal(await reach(token), undefined);

  assert.equal(await use(hub, await makeLink(hub, 'ada@acme.dev')), 'ok');
  assert.deepEqual(await Promise.all([tokens.device, tokens.minted, tokens.left].map(reach)), [
    'TOKEN_REVOKED',
    'TOKEN_REVOKED',
    'TOKEN_REVOKED',
  ]);
  assert.deepEqual(await Promise.all([tokens.adminDevice, tokens.adminMinted].map(reach)), [
    undefined,
    undefined,
  ]);
  for (const browser of [owner, second]) {
    assert.equal((await browser.call(session.get, {})).person, null);
  }
  assert.equal((await admin.call(session.get, {})).person?.personId, personIds.admin);

  const log = (await listAudit(hub, workspaceId)).map(({ action, actor, data }) => ({
    action,
    actor,
    data: JSON.parse(data) as Record<string, unknown>,
  }));
  const made = log.find(({ action }) => action === 'password-reset.create');
  assert.deepEqual(made, {
    action: 'password-reset.create',
    actor: 'operator',
    data: { email: 'ada@acme.dev', replaced: 0 },
  });
  const used = log.find(({ action }) => action === 'password-reset.use');
  const { address: _where, ...counts } = used?.data ?? {};
  assert.equal(used?.actor, personIds.owner);
  assert.deepEqual(counts, { sessionsEnded: 2 });
  const revoked = log.filter(({ action }) => action === 'token.revoke');
  assert.deepEqual(revoked.map(({ data }) => String(data.kind)).toSorted(), ['device', 'service']);
  assert.ok(revoked.every(({ actor, data }) => actor === personIds.owner && data.cause));
  const elsewhere = (await listAudit(hub, beta)).map(({ action }) => action);
  assert.ok(elsewhere.includes('token.revoke'));
  const foreign = (await listAudit(hub, world.other.workspaceId)).map(({ action }) => action);
  assert.ok(!foreign.some((action) => action.startsWith('password-reset.')));
});

test('open invitations that the person created are revoked, and those of others are not', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers, personIds } = world;
  const { owner, admin } = browsers;
  const { workspace } = await owner.call(workspaceSettings.create, { slug: 'beta', name: 'Beta' });
  const beta = workspace.workspaceId;
  const invite = async (by: typeof owner, into: string, email: string) => {
    const draft = { workspaceId: into, email, role: 'admin' } as const;
    return linkTokenOf((await by.call(invitations.create, draft)).invitationUrl);
  };
  const accepted = await invite(owner, workspaceId, 'old@acme.dev');
  const newcomer = { name: 'Old Hand', password: PASSWORD };
  await hub.visitor().call(invitations.accept, { linkToken: accepted, ...newcomer });
  const links = {
    here: await invite(owner, workspaceId, 'back@acme.dev'),
    elsewhere: await invite(owner, beta, 'back@acme.dev'),
    byAdmin: await invite(admin, workspaceId, 'grace@acme.dev'),
    accepted,
  };
  const stateOf = async (linkToken: string) =>
    (await hub.visitor().call(invitations.check, { linkToken })).status;
  const states = () => Promise.all(Object.values(links).map(stateOf));
  const linkToken = await makeLink(hub, 'ada@acme.dev');
  assert.equal(await use(hub, linkToken, 'Password1!'), 'INVALID_REQUEST');
  assert.deepEqual(await states(), ['open', 'open', 'open', 'used']);

  assert.equal(await use(hub, linkToken), 'ok');
  assert.deepEqual(await states(), ['revoked', 'revoked', 'open', 'used']);
  for (const each of [workspaceId, beta]) {
    const log = await listAudit(hub, each);
    const entries = log.filter(({ action }) => action === 'invitation.revoke');
    assert.deepEqual(
      entries.map(({ actor, data }) => ({ actor, ...JSON.parse(data) })),
      [
        {
          actor: personIds.owner,
          email: 'back@acme.dev',
          role: 'admin',
          cause: 'password-reset',
        },
      ],
    );
  }
});

test('a session that is sent along ends, also one of another person', async (t) => {
  const { hub, browsers, personIds } = await startConsoleWorld(t);
  const linkToken = await makeLink(hub, 'ada@acme.dev');
  const { member } = browsers;
  const before = member.cookies.get('sbx_session') ?? '';
  await member.call(passwordResets.setPassword, { linkToken, newPassword: NEW_PASSWORD });
  assert.equal((await member.call(session.get, {})).person?.personId, personIds.owner);
  const thief = hub.visitor();
  thief.cookies.set('sbx_session', before);
  assert.equal((await thief.call(session.get, {})).person, null);
});

test('a link ends after 24 hours, by a newer one, and by a change of the password', async (t) => {
  const { hub } = await startConsoleWorld(t);
  const email = 'ada@acme.dev';
  const replaced = await makeLink(hub, email);
  const aged = await makeLink(hub, email);
  assert.equal(await statusOf(hub, replaced), 'replaced');
  assert.equal(await use(hub, replaced), 'PASSWORD_RESET_LINK_INVALID');
  hub.clock.advance(DAY_MS - 1);
  assert.equal(await statusOf(hub, aged), 'open');
  hub.clock.advance(1);
  assert.equal(await statusOf(hub, aged), 'expired');
  assert.equal(await use(hub, aged), 'PASSWORD_RESET_LINK_INVALID');
  const open = await makeLink(hub, email);
  const owner = await signInAs(hub, email);
  await owner.call(account.changePassword, { password: PASSWORD, newPassword: NEW_PASSWORD });
  assert.equal(await statusOf(hub, open), 'replaced');
  assert.equal(await use(hub, open), 'PASSWORD_RESET_LINK_INVALID');
});

test('a new link leaves those of other people open, and old links are deleted', async (t) => {
  const { hub } = await startConsoleWorld(t);
  const owners = await makeLink(hub, 'ada@acme.dev');
  const strangers = await makeLink(hub, `${CANARY}@acme.dev`);
  assert.deepEqual([await statusOf(hub, owners), await statusOf(hub, strangers)], ['open', 'open']);
  hub.clock.advance(32 * DAY_MS);
  await makeLink(hub, 'ada@acme.dev');
  assert.equal(await statusOf(hub, strangers), 'unknown');
});

test('of twenty requests with one link at once exactly one sets the password', async (t) => {
  const { hub } = await startConsoleWorld(t);
  const linkToken = await makeLink(hub, 'ada@acme.dev');
  const passwords = Array.from({ length: 20 }, (_, at) => `${NEW_PASSWORD} ${at}`);
  const codes = await Promise.all(passwords.map((each) => use(hub, linkToken, each)));
  assert.equal(codes.filter((code) => code === 'ok').length, 1);
  assert.equal(codes.filter((code) => code === 'PASSWORD_RESET_LINK_INVALID').length, 19);
  const password = passwords[codes.indexOf('ok')] ?? '';
  const signIn = { email: 'ada@acme.dev', password };
  assert.equal(await hub.visitor().codeOf(session.signIn, signIn), 'ok');
});

test('of links created at once exactly one is open', async (t) => {
  const { hub } = await startConsoleWorld(t);
  const links = await Promise.all([1, 2, 3].map(() => makeLink(hub, 'ada@acme.dev')));
  const statuses = await Promise.all(links.map((each) => statusOf(hub, each)));
  assert.deepEqual(statuses.toSorted(), ['open', 'replaced', 'replaced']);
});
