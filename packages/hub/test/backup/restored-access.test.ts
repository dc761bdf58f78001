import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints, INTEGRATION_SECRET_HEADER } from '@signalbox/contract';
import { createPasswordReset } from '../../src/people/reset-password.ts';
import { linkTokenOf } from '../support/console-world.ts';
import { listAudit, logDeviceIn, makeOwner, ownerDraft, signInAs } from '../support/people.ts';
import { makeRestorable } from '../support/restored-hub.ts';
import type { TestHub } from '../support/test-hub.ts';
import type { Visitor } from '../support/visitor.ts';

const { session, serviceTokens, invitations, passwordResets, integrationSecrets } =
  consoleEndpoints;
const { tokens, devices } = endpoints;

/** Everything that gives access, as its holders have it. */
async function makeAccess(t: TestContext) {
  const restorable = await makeRestorable(t);
  const before = await restorable.start();
  const { browser, workspaceId } = await makeOwner(before);
  const deviceToken = await logDeviceIn(before, browser);
  const { token: serviceToken } = await browser.call(serviceTokens.mint, {
    workspaceId,
    name: 'CI',
  });
  const { secret } = await browser.call(integrationSecrets.mint, { workspaceId, name: 'forge' });
  const invited = await browser.call(invitations.create, {
    workspaceId,
    email: 'grace@acme.dev',
    role: 'admin',
  });
  const reset = await before.database.write(null, (tx) =>
    createPasswordReset(tx, { email: ownerDraft.email, createdBy: 'operator' }),
  );
  const login = await before
    .visitor()
    .call(devices.start, { workspaceSlug: 'acme', machineName: 'new' });
  await before.hub.stop();
  await restorable.backUp();
  const links = {
    invitation: linkTokenOf(invited.invitationUrl),
    reset: reset?.linkToken ?? '',
  };
  const held = { cookies: new Map(browser.cookies), deviceToken, serviceToken, secret, ...links };
  return { restorable, workspaceId, login, held };
}

type Held = Awaited<ReturnType<typeof makeAccess>>['held'];

/** The answer of a hub to each holder. */
async function tryAll(
  hub: TestHub,
  { cookies, deviceToken, serviceToken, secret, invitation, reset }: Held,
) {
  const browser: Visitor = hub.visitor();
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  const whoami = (token: string) => hub.visitor().withToken(token).codeOf(tokens.whoami, {});
  const { person } = await browser.call(session.get, {});
  return {
    session: person !== null,
    device: await whoami(deviceToken),
    service: await whoami(serviceToken),
    // An empty event is refused after its secret was accepted.
    integration: (
      await hub.visitor().send(
        endpoints.integrations.ingest.path,
        {},
        {
          [INTEGRATION_SECRET_HEADER]: secret,
        },
      )
    ).body.error,
    invitation: (await hub.visitor().call(invitations.check, { linkToken: invitation })).status,
    reset: (await hub.visitor().call(passwordResets.check, { linkToken: reset })).status,
  };
}

const everything = {
  session: true,
  device: 'ok',
  service: 'ok',
  integration: 'INVALID_REQUEST',
  invitation: 'open',
  reset: 'open',
};

test('nothing that gave access before a restore does so after it, and people sign in', async (t) => {
  const { restorable, workspaceId, login, held } = await makeAccess(t);
  const lost = await restorable.start();
  assert.deepEqual(await tryAll(lost, held), everything);
  // A leak is noticed after the backup.
  for (const token of [held.deviceToken, held.serviceToken]) {
    await lost.visitor().withToken(token).call(tokens.revoke, {});
  }
  await lost.hub.stop();

  const { report, start } = await restorable.restore();
  const restored = await start();
  assert.deepEqual(await tryAll(restored, held), {
    session: false,
    device: 'TOKEN_REVOKED',
    service: 'TOKEN_REVOKED',
    integration: 'INTEGRATION_UNAUTHORIZED',
    invitation: 'revoked',
    reset: 'replaced',
  });
  const { deviceId, deviceSecret } = login;
  const poll = restored.visitor().codeOf(devices.poll, { deviceId, deviceSecret });
  assert.equal(await poll, 'DEVICE_SESSION_NOT_FOUND');
  assert.deepEqual(report.access, {
    tokens: [
      { kind: 'device', workspaceSlug: 'acme', name: 'Ada Lovelace on build-7', wasLive: true },
      { kind: 'service', workspaceSlug: 'acme', name: 'CI', wasLive: true },
      { kind: 'integration', workspaceSlug: 'acme', name: 'forge', wasLive: true },
    ],
    sessions: 1,
    invitations: 1,
    passwordResets: 1,
    deviceLogins: 2,
  });
  const log = await listAudit(restored, workspaceId);
  const ended = log.filter(
    ({ actor, action }) => actor === 'operator' && /revoke|restore/.test(action),
  );
  assert.deepEqual(
    ended.map(({ action }) => action),
    ['token.revoke', 'token.revoke', 'integration-secret.revoke', 'hub.restore'],
  );
  // The owner gets in as before, and the machine logs in again.
  const owner = await signInAs(restored, ownerDraft.email);
  const token = await logDeviceIn(restored, owner);
  assert.equal(await restored.visitor().withToken(token).codeOf(tokens.whoami, {}), 'ok');
});

test('with keepsTokens, what gave access at the time of the backup does so again', async (t) => {
  const { restorable, login, held } = await makeAccess(t);
  const { report, start } = await restorable.restore({ keepsTokens: true });
  assert.equal(report.access, null);
  const restored = await start();
  assert.deepEqual(await tryAll(restored, held), everything);
  const { deviceId, deviceSecret } = login;
  const { status } = await restored.visitor().call(devices.poll, { deviceId, deviceSecret });
  assert.equal(status, 'pending');
});
