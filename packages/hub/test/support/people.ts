import assert from 'node:assert/strict';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { insertMembership } from '../../src/access/store.ts';
import type { Role } from '../../src/db/schema/tables.ts';
import { issueFirstOwnerLink } from '../../src/people/create-first-owner.ts';
import { insertPerson } from '../../src/people/store.ts';
import type { TestHub } from './test-hub.ts';
import type { Visitor } from './visitor.ts';

export const PASSWORD = 'violet harbour 9 lanterns';

export const ownerDraft = {
  email: 'ada@acme.dev',
  name: 'Ada Lovelace',
  password: PASSWORD,
  workspaceSlug: 'acme',
  workspaceName: 'Acme',
};

/** The first owner, signed in, made through the link as a person would. */
export async function makeOwner(hub: Pick<TestHub, 'database' | 'visitor'>) {
  const linkToken = await issueFirstOwnerLink(hub.database);
  assert.ok(linkToken !== null, 'the hub has no people yet');
  const browser = hub.visitor();
  const state = await browser.call(consoleEndpoints.firstOwner.create, {
    linkToken,
    ...ownerDraft,
  });
  const [workspace] = state.workspaces;
  assert.ok(state.person && workspace);
  return { browser, personId: state.person.personId, workspaceId: workspace.workspaceId };
}

/** Adds another person with the same password; with a role of null, to no workspace. */
export async function addPerson(
  hub: TestHub,
  workspaceId: string,
  name: string,
  role: Role | null,
): Promise<{ personId: string; email: string }> {
  const { database, deps, passwords } = hub;
  const personId = deps.ids('person');
  const email = `${name}@acme.dev`;
  const passwordHash = await passwords.hash(PASSWORD);
  await database.write(null, async (tx) => {
    const created_at = tx.nowMs;
    await insertPerson(tx, {
      person_id: personId,
      email,
      name,
      password_hash: passwordHash,
      created_at,
    });
    if (role === null) return;
    await insertMembership(tx, {
      workspace_id: workspaceId,
      person_id: personId,
      role,
      created_at,
    });
  });
  return { personId, email };
}

export async function signInAs(hub: TestHub, email: string): Promise<Visitor> {
  const browser = hub.visitor();
  await browser.call(consoleEndpoints.session.signIn, { email, password: PASSWORD });
  return browser;
}

/** The token of a machine of the signed-in person, logged in through the device flow. */
export async function logDeviceIn(
  hub: TestHub,
  browser: Visitor,
  { workspaceSlug = 'acme', machineName = 'build-7' } = {},
): Promise<string> {
  const terminal = hub.visitor();
  const started = await terminal.call(endpoints.devices.start, { workspaceSlug, machineName });
  const { deviceId, deviceSecret, userCode } = started;
  await browser.call(consoleEndpoints.deviceApprovals.open, { deviceId });
  await browser.call(consoleEndpoints.deviceApprovals.answer, {
    deviceId,
    decision: 'approve',
    userCode,
  });
  const { token } = await terminal.call(endpoints.devices.poll, { deviceId, deviceSecret });
  assert.ok(token !== undefined);
  return token;
}

/** The audit log of a workspace, as action and actor. */
export async function listAudit(hub: Pick<TestHub, 'database'>, workspaceId: string) {
  type Row = { action: string; actor: string; subject: string; data: string };
  return hub.database.reader.allSql<Row>(
    'SELECT action, actor, subject, data FROM audit_entries WHERE workspace_id = ? ORDER BY seq',
    [workspaceId],
  );
}
