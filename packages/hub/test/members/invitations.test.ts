import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { issueFirstOwnerLink } from '../../src/people/create-first-owner.ts';
import { CANARY } from '../support/api-world.ts';
import {
  type ConsoleScenario,
  linkTokenOf,
  runConsoleScenario,
  startConsoleWorld,
} from '../support/console-world.ts';
import { listAudit, PASSWORD, signInAs } from '../support/people.ts';
import { quickHasher } from '../support/quick-hasher.ts';

const { account, invitations, members, session, workspaceSettings } = consoleEndpoints;
const DAY_MS = 86_400_000;
const email = 'grace@acme.dev';
const newcomer = { name: 'Grace Hopper', password: PASSWORD };

test('invitations: requests and answers', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, other } = world;
  const { create, list, revoke, check, accept } = invitations;
  const { invitationId } = await world.invite('boss@acme.dev', 'owner');
  const { linkToken } = await world.invite(email);
  const scenarios: ConsoleScenario[] = [
    {
      name: 'an admin invites a member',
      endpoint: create,
      as: 'admin',
      body: { workspaceId, email: ' New@Acme.dev', role: 'member' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an address is stored in one spelling',
      endpoint: create,
      as: 'admin',
      body: { workspaceId, email: 'New@Acme.dev', role: 'member' },
      holds: { invitation: { email: 'new@acme.dev', role: 'member', invitedBy: 'admin-1' } },
    },
    {
      name: 'an admin cannot invite an owner',
      endpoint: create,
      as: 'admin',
      body: { workspaceId, email, role: 'owner' },
      error: 'NOT_ALLOWED',
    },
    {
      name: 'an invalid address is refused',
      endpoint: create,
      as: 'owner',
      body: { workspaceId, email: 'grace', role: 'member' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'a member is not invited again',
      endpoint: create,
      as: 'owner',
      body: { workspaceId, email: 'Ada@acme.dev', role: 'viewer' },
      error: 'ALREADY_MEMBER',
    },
    {
      name: 'the list contains no link',
      endpoint: list,
      as: 'admin',
      body: { workspaceId },
      holds: { nextCursor: null },
    },
    {
      name: 'an admin cannot revoke the invitation of an owner',
      endpoint: revoke,
      as: 'admin',
      body: { workspaceId, invitationId },
      error: 'NOT_ALLOWED',
    },
    {
      name: 'an owner can revoke it',
      endpoint: revoke,
      as: 'owner',
      body: { workspaceId, invitationId },
    },
    {
      name: 'an invitation cannot be revoked twice',
      endpoint: revoke,
      as: 'owner',
      body: { workspaceId, invitationId },
      error: 'INVITATION_NOT_FOUND',
    },
    {
      name: 'the invitation of another workspace is not found',
      endpoint: revoke,
      as: 'owner',
      body: { workspaceId, invitationId: other.invitationId },
      error: 'INVITATION_NOT_FOUND',
    },
    {
      name: 'a visitor with the link sees the invitation',
      endpoint: check,
      as: 'visitor',
      body: { linkToken },
      holds: {
        status: 'open',
        invitation: {
          workspaceName: 'Acme',
          email,
          role: 'member',
          invitedBy: 'Ada Lovelace',
          accountExists: false,
        },
      },
    },
    {
      name: 'a visitor with a wrong link sees nothing',
      endpoint: check,
      as: 'visitor',
      body: { linkToken: 'x' },
      holds: { status: 'unknown', invitation: null },
    },
    {
      name: 'an unknown link is refused',
      endpoint: accept,
      as: 'visitor',
      body: { linkToken: 'x', ...newcomer },
      error: 'INVITATION_LINK_INVALID',
    },
    {
      name: 'a password alone signs in, so without an account it is wrong',
      endpoint: accept,
      as: 'visitor',
      body: { linkToken, password: PASSWORD },
      error: 'SIGN_IN_FAILED',
    },
    {
      name: 'a new person needs a password',
      endpoint: accept,
      as: 'visitor',
      body: { linkToken, name: 'Grace' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'a password that is easy to guess is refused',
      endpoint: accept,
      as: 'visitor',
      body: { linkToken, name: 'Grace', password: 'Password1!' },
      error: 'INVALID_REQUEST',
    },
  ];
  for (const scenario of scenarios) {
    await t.test(scenario.name, () => runConsoleScenario(world, scenario));
  }
  const answer = await world.browsers.owner.send(list.path, { workspaceId });
  assert.ok(!JSON.stringify(answer.body).includes(linkToken), 'the link is shown once');
  const kept = await world.hub.database.reader.allSql('SELECT * FROM invitations', []);
  assert.ok(!JSON.stringify(kept).includes(linkToken), 'and not stored');
});

test('a new person accepts, gets an account and is signed in as a member', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, personIds } = world;
  const { invitationId, linkToken } = await world.invite(email, 'admin');
  const browser = hub.visitor();
  const state = await browser.call(invitations.accept, { linkToken, ...newcomer });
  assert.equal(state.workspaceId, workspaceId);
  assert.equal(state.person?.email, email);
  assert.deepEqual(
    state.workspaces.map(({ role }) => role),
    ['admin'],
  );
  assert.deepEqual((await browser.call(session.get, {})).person, state.person);
  assert.ok((await signInAs(hub, email)).cookies.has('sbx_session'), 'the password works');
  const used = await hub.visitor().codeOf(invitations.accept, { linkToken, ...newcomer });
  assert.equal(used, 'INVITATION_LINK_INVALID');
  const { status, invitation } = await hub.visitor().call(invitations.check, { linkToken });
  assert.deepEqual([status, invitation], ['used', null]);
  const entry = (await listAudit(hub, workspaceId)).find(
    ({ action }) => action === 'invitation.accept',
  );
  assert.equal(entry?.actor, state.person.personId);
  const { address: _where, ...data } = JSON.parse(entry.data) as Record<string, unknown>;
  assert.deepEqual(data, { role: 'admin', invitedBy: personIds.owner });
  assert.ok(invitationId.startsWith('inv_'));
});

test('a person with an account accepts with their session or their password', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers, other } = world;
  const canaryEmail = `${CANARY}@acme.dev`;
  const first = await world.invite(canaryEmail);
  const { invitation } = await hub.visitor().call(invitations.check, first);
  assert.equal(invitation?.accountExists, false, 'the holder of the link does not learn it');
  const own = await browsers.stranger.call(invitations.check, first);
  assert.equal(own.invitation?.accountExists, true);
  const accept = (as: typeof browsers.owner, password?: string) =>
    as.codeOf(invitations.accept, {
      linkToken: first.linkToken,
      ...(password === undefined ? {} : { password }),
    });
  assert.equal(await accept(hub.visitor()), 'SESSION_REQUIRED');
  assert.equal(await accept(browsers.viewer), 'SESSION_REQUIRED', 'another person is signed in');
  assert.equal(await accept(hub.visitor(), 'a wrong password'), 'SIGN_IN_FAILED');
  const before = browsers.stranger.cookies.get('sbx_session');
  assert.equal(await accept(browsers.stranger), 'ok');
  assert.equal(browsers.stranger.cookies.get('sbx_session'), before, 'their session continues');
  await browsers.stranger.call(members.leave, { workspaceId });
  const second = await world.invite(canaryEmail);
  const browser = await signInAs(hub, 'ada@acme.dev');
  const state = await browser.call(invitations.accept, {
    linkToken: second.linkToken,
    password: PASSWORD,
  });
  assert.equal(
    state.person?.personId,
    other.personId,
    'they are signed in instead of the other person',
  );
  assert.deepEqual((await browser.call(session.get, {})).person, state.person);
});

test('wrong passwords for an invitation are throttled as at sign-in', async (t) => {
  const world = await startConsoleWorld(t);
  const { linkToken } = await world.invite(`${CANARY}@acme.dev`);
  const codes: string[] = [];
  for (let count = 0; count < 6; count++) {
    const password = `wrong ${count} password`;
    codes.push(await world.hub.visitor().codeOf(invitations.accept, { linkToken, password }));
  }
  assert.deepEqual(codes, [...Array<string>(5).fill('SIGN_IN_FAILED'), 'RATE_LIMITED']);
});

test('of twenty people who accept one link at once exactly one becomes a member', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId } = world;
  for (const known of [false, true]) {
    const address = known ? `${CANARY}@acme.dev` : email;
    const { linkToken } = await world.invite(address);
    const codes = await Promise.all(
      Array.from({ length: 20 }, () =>
        (known ? world.browsers.stranger : hub.visitor()).codeOf(invitations.accept, {
          linkToken,
          ...(known ? {} : newcomer),
        }),
      ),
    );
    assert.deepEqual(codes.toSorted(), [
      ...Array<string>(19).fill('INVITATION_LINK_INVALID'),
      'ok',
    ]);
    const rows = await hub.database.reader.allSql(
      `SELECT 1 FROM memberships m JOIN people p ON p.person_id = m.person_id
       WHERE m.workspace_id = ? AND p.email = ?`,
      [workspaceId, address],
    );
    assert.equal(rows.length, 1);
  }
});

test('a new person who accepts two invitations at once gets one account', async (t) => {
  const passwords = { ...quickHasher };
  const world = await startConsoleWorld(t, { passwords });
  const { hub, browsers } = world;
  const { owner } = browsers;
  const { workspace } = await owner.call(workspaceSettings.create, { slug: 'beta', name: 'Beta' });
  const draft = { workspaceId: workspace.workspaceId, email, role: 'member' } as const;
  const beta = linkTokenOf((await owner.call(invitations.create, draft)).invitationUrl);
  const { linkToken: acme } = await world.invite(email);
  // Both requests hash a new person's password before either of them writes.
  const meeting = Promise.withResolvers<void>();
  let arrived = 0;
  passwords.hash = async (password) => {
    if (++arrived === 2) meeting.resolve();
    await meeting.promise;
    return quickHasher.hash(password);
  };
  const [one, two] = [hub.visitor(), hub.visitor()];
  const codes = await Promise.all([
    one.codeOf(invitations.accept, { linkToken: acme, ...newcomer }),
    two.codeOf(invitations.accept, { linkToken: beta, ...newcomer }),
  ]);
  assert.deepEqual(codes.toSorted(), ['EMAIL_TAKEN', 'ok']);
  const [late, rest] = codes[0] === 'ok' ? [two, beta] : [one, acme];
  const state = await late.call(invitations.accept, { linkToken: rest, password: PASSWORD });
  assert.equal(state.workspaces.length, 2);
});

test('a link expires after 7 days, and when it is revoked or replaced', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers } = world;
  const accept = (linkToken: string) =>
    hub.visitor().codeOf(invitations.accept, { linkToken, ...newcomer });
  const statusOf = async (linkToken: string) =>
    (await hub.visitor().call(invitations.check, { linkToken })).status;
  const replaced = await world.invite(email);
  const revoked = await world.invite(email.toUpperCase());
  assert.equal(await accept(replaced.linkToken), 'INVITATION_LINK_INVALID');
  assert.equal(await statusOf(replaced.linkToken), 'revoked');
  await browsers.admin.call(invitations.revoke, {
    workspaceId,
    invitationId: revoked.invitationId,
  });
  assert.equal(await accept(revoked.linkToken), 'INVITATION_LINK_INVALID');
  assert.equal(await statusOf(revoked.linkToken), 'revoked');
  const aged = await world.invite(email);
  assert.equal(await statusOf(aged.linkToken), 'open');
  hub.clock.advance(7 * DAY_MS);
  assert.equal(await accept(aged.linkToken), 'INVITATION_LINK_INVALID');
  assert.equal(await statusOf(aged.linkToken), 'expired');
  const owner = await signInAs(hub, 'ada@acme.dev');
  const { invitations: open } = await owner.call(invitations.list, { workspaceId });
  assert.deepEqual(open, [], 'an expired invitation is not open');
  const draft = { workspaceId, email, role: 'member' } as const;
  const fresh = await owner.call(invitations.create, draft);
  assert.equal(
    await accept(linkTokenOf(fresh.invitationUrl)),
    'ok',
    'and does not prevent a new one',
  );
});

test('the link carries its token in the fragment, which browsers never send', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers } = world;
  const draft = { workspaceId, email, role: 'member' } as const;
  const { invitationUrl } = await browsers.owner.call(invitations.create, draft);
  const url = new URL(invitationUrl);
  assert.equal(url.origin, hub.address);
  assert.deepEqual([url.pathname, url.search], ['/invitation', '']);
  assert.match(url.hash, /^#token=[\w-]{43}$/);
  // People exist, so the hub waits for no first owner.
  assert.equal(await issueFirstOwnerLink(hub.database), null);
});

test('an invitation link tells its holder nothing about accounts', async (t) => {
  const world = await startConsoleWorld(t);
  const known = await world.invite(`${CANARY}@acme.dev`);
  const unknown = await world.invite('unknown@acme.dev');
  const ask = async ({ linkToken }: { linkToken: string }) => {
    const visitor = () => world.hub.visitor();
    const { invitation } = await visitor().call(invitations.check, { linkToken });
    const answers = [];
    for (const proof of [{}, { password: 'a wrong password' }, { name: 'Grace' }]) {
      const answer = await visitor().send(invitations.accept.path, { linkToken, ...proof });
      const { requestId: _own, message, ...rest } = answer.body;
      answers.push({ ...rest, message: String(message).replace(/\S+@acme\.dev/, 'the address') });
    }
    return { accountExists: invitation?.accountExists, answers };
  };
  assert.deepEqual(await ask(known), await ask(unknown));
});

test('an account that another workspace invited is no claim on an address', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId } = world;
  const { owner } = world.browsers;
  const { workspace } = await owner.call(workspaceSettings.create, { slug: 'beta', name: 'Beta' });
  const draft = { workspaceId: workspace.workspaceId, email, role: 'member' } as const;
  const beta = linkTokenOf((await owner.call(invitations.create, draft)).invitationUrl);
  // Somebody else accepts the first invitation, with a password of their own.
  const squatter = { name: 'Mallory', password: 'somebody elses long words' };
  const first = await hub.visitor().call(invitations.accept, { linkToken: beta, ...squatter });
  const { linkToken } = await world.invite(email);
  const accept = (proof: object) =>
    hub.visitor().codeOf(invitations.accept, { linkToken, ...proof });
  assert.equal(await accept({ ...newcomer, password: squatter.password }), 'EMAIL_TAKEN');
  const second = await hub.visitor().call(invitations.accept, { linkToken, ...newcomer });
  assert.notEqual(second.person?.personId, first.person?.personId);
  assert.deepEqual(
    second.workspaces.map((each) => each.workspaceId),
    [workspaceId],
  );
  // Each password leads to its own account.
  for (const [password, personId] of [
    [squatter.password, first.person?.personId],
    [newcomer.password, second.person?.personId],
  ] as const) {
    const state = await hub.visitor().call(session.signIn, { email, password: String(password) });
    assert.equal(state.person?.personId, personId);
  }
  const again = await owner.codeOf(invitations.create, { workspaceId, email, role: 'viewer' });
  assert.equal(again, 'ALREADY_MEMBER');
});

test('two accounts of one address never have one password', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, browsers } = world;
  const { linkToken } = await world.invite(`${CANARY}@acme.dev`);
  const browser = hub.visitor();
  const own = { name: 'Grace', password: 'other words entirely here' };
  await browser.call(invitations.accept, { linkToken, ...own });
  const change = (by: typeof browser, password: string, newPassword: string) =>
    by.codeOf(account.changePassword, { password, newPassword });
  assert.equal(await change(browser, own.password, PASSWORD), 'INVALID_REQUEST');
  assert.equal(await change(browsers.stranger, PASSWORD, own.password), 'INVALID_REQUEST');
  assert.equal(await change(browser, own.password, 'quite different words'), 'ok');
});
