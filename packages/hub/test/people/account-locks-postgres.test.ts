import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { DiskSpace } from '../../src/base/disk-space.ts';
import { Readiness } from '../../src/cluster/readiness.ts';
import { SchemaWatch } from '../../src/cluster/schema-watch.ts';
import { NO_WORKSPACE } from '../../src/db/engine.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { addPerson, listAudit, makeOwner, PASSWORD, signInAs } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';
import type { Visitor } from '../support/visitor.ts';

const { account, session } = consoleEndpoints;

/** Far more than the test needs; a wait for the lock of another workspace never ends. */
const options = { timeout: 30_000 };

test('signing in and renaming do not wait for writes of other workspaces', options, async (t) => {
  const hub = await startTestHub(t);
  const { browser, workspaceId } = await makeOwner(hub);
  const { database } = hub;
  const { workspace_id: other } = await database.write(null, (tx) =>
    createWorkspace(hub.deps, tx, { slug: 'other', name: 'Other' }),
  );
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const blocker = database.write(other, async () => {
    begin();
    await opened;
  });
  await began;
  const signIn = { email: 'ada@acme.dev', password: PASSWORD };
  assert.equal(await hub.visitor().codeOf(session.signIn, signIn), 'ok');
  assert.equal(await browser.codeOf(account.update, { name: 'Ada Byron' }), 'ok');
  open();
  await blocker;
  const actions = (await listAudit(hub, workspaceId)).map(({ action }) => action);
  assert.deepEqual(actions.slice(-2), ['session.sign-in', 'person.rename']);
});

test('the check of readiness waits for no login in progress', options, async (t) => {
  const { database } = await startTestHub(t);
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const blocker = database.write(NO_WORKSPACE, async () => {
    begin();
    await opened;
  });
  await began;
  const disk = new DiskSpace('', 0, async () => 1);
  const group = { heartbeatAgeMs: () => 0 };
  await new Readiness({
    database,
    group,
    schema: new SchemaWatch(0),
    disk,
    draining: { isDraining: false },
  }).check();
  open();
  await blocker;
});

test(
  'concurrent renames of people in the same workspaces keep the audit logs whole',
  options,
  async (t) => {
    const hub = await startTestHub(t);
    const { workspaceId } = await makeOwner(hub);
    const { workspace_id: second } = await hub.database.write(null, (tx) =>
      createWorkspace(hub.deps, tx, { slug: 'second', name: 'Second' }),
    );
    const browsers: Visitor[] = [];
    for (const name of ['grace', 'edsger', 'barbara']) {
      const { email, personId } = await addPerson(hub, workspaceId, name, 'admin');
      await hub.database.write(null, (tx) =>
        tx.runSql(
          'INSERT INTO memberships (workspace_id, person_id, role, created_at) VALUES (?, ?, ?, 0)',
          [second, personId, 'admin'],
        ),
      );
      browsers.push(await signInAs(hub, email));
    }
    const renames = Array.from({ length: 12 }, (_, at) =>
      nth(browsers, at % 3).codeOf(account.update, { name: `Name ${at}` }),
    );
    assert.ok((await Promise.all(renames)).every((code) => code === 'ok'));
    // The limits of requests start over.
    hub.clock.advance(60_000);
    for (const id of [workspaceId, second]) {
      const verified = await nth(browsers, 0).call(consoleEndpoints.auditLog.verify, {
        workspaceId: id,
      });
      assert.equal(verified.whole, true);
      const log = await listAudit(hub, id);
      assert.equal(log.filter(({ action }) => action === 'person.rename').length, 12);
    }
  },
);

function nth(browsers: readonly Visitor[], at: number): Visitor {
  const browser = browsers[at];
  assert.ok(browser !== undefined);
  return browser;
}
