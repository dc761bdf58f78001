import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import {
  createWorkspaceByAdmin,
  inviteMemberByAdmin,
  mintTokenByAdmin,
  resetPasswordByAdmin,
} from '../../src/start/admin.ts';
import { readConfig } from '../../src/start/config.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { linkTokenOf } from '../support/console-world.ts';
import { logDeviceIn, makeOwner, PASSWORD } from '../support/people.ts';
import { databaseUrlOf } from '../support/test-engine.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';
import type { Visitor } from '../support/visitor.ts';

const { invitations, passwordResets, workspaceSettings } = consoleEndpoints;

/** A write that waited for the other workspace would be refused after 5 s. */
const options = { timeout: 60_000 };

test('no rare write waits for a transaction of another workspace', options, async (t) => {
  const hub = await startTestHub(t, { config: { workspaceCreation: 'everyone' } });
  const { browser, workspaceId } = await makeOwner(hub);
  const { workspace_id: other } = await hub.database.write('other', (tx) =>
    createWorkspace(hub.deps, tx, { slug: 'other', name: 'Other' }),
  );
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  let isEnding = false;
  const long = hub.database.write(other, async (tx) => {
    begin();
    // The server ends a transaction that is left idle.
    while (!isEnding) await tx.allSql('SELECT pg_sleep(0.1)', []);
  });
  await began;
  try {
    await writeRarely(hub, browser, workspaceId);
    await startTestHub(t, { dataDir: hub.dataDir });
    assert.equal(await Promise.race([long, Promise.resolve('held')]), 'held');
  } finally {
    isEnding = true;
    await long;
  }
});

async function writeRarely(hub: TestHub, browser: Visitor, workspaceId: string) {
  await logDeviceIn(hub, browser);
  const invited = await browser.call(invitations.create, {
    workspaceId,
    email: 'grace@acme.dev',
    role: 'member',
  });
  const account = { name: 'Grace', password: PASSWORD };
  const linkToken = linkTokenOf(invited.invitationUrl);
  await hub.visitor().call(invitations.accept, { linkToken, ...account });
  await browser.call(workspaceSettings.create, { slug: 'mine', name: 'Mine' });
  const databaseUrl = await databaseUrlOf(hub.dataDir);
  const config = { ...readConfig({}), dataDir: hub.dataDir, databaseUrl };
  await createWorkspaceByAdmin(config, { slug: 'operated', name: 'Operated' });
  await mintTokenByAdmin(config, { workspaceSlug: 'operated', name: 'build' });
  const invitee = { email: 'edsger@acme.dev', role: 'member' } as const;
  await inviteMemberByAdmin(config, { workspaceSlug: 'acme', ...invitee });
  const reset = await resetPasswordByAdmin(config, 'grace@acme.dev');
  const newPassword = 'seven copper otters waiting';
  await hub.visitor().call(passwordResets.setPassword, {
    linkToken: linkTokenOf(reset?.resetUrl ?? ''),
    newPassword,
  });
}
