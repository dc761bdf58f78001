import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';

/* Which actions wait for a long transaction of another workspace. */

/** Longer than the tests, so that no wait ends before its lock is free. */
const limits = {
  connectMs: 3_000,
  statementMs: 120_000,
  lockMs: 120_000,
  idleInTransactionMs: 120_000,
};
const options = { timeout: 30_000 };
const SESSIONS_MAX = 3;

const template = {
  fingerprint: 'postgres-scopes 1',
  prepare: async () => {},
};

/** Two hubs, and a transaction of the workspace `c` that stays open until `end` is called. */
async function openHubs(t: TestContext) {
  const { url, drop } = await createTestDatabase(template);
  const open = () => openPostgres({ url, sessionsMax: SESSIONS_MAX, limits, isPooled: false });
  const [near, far] = [open(), open()];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const long = far.writeConcurrent({ workspaceId: 'c', keys: [] }, async (tx) => {
    await tx.allSql('SELECT 1', []);
    begin();
    await ended;
  });
  await began;
  t.after(async () => {
    end();
    await long;
    await Promise.all([near.close(), far.close()]);
    await drop();
  });
  const serveOthers = async () => {
    for (const hub of [near, far]) {
      for (const workspaceId of ['a', 'b']) {
        await hub.write(workspaceId, async (tx) => tx.allSql('SELECT 1', []));
        await hub.writeConcurrent({ workspaceId, keys: [] }, (tx) => tx.allSql('SELECT 1', []));
      }
    }
  };
  return { near, far, end, serveOthers };
}

/** A write that waits, and whether it has run. */
function watch(write: Promise<unknown>) {
  const state = { hasEnded: false };
  const ended = write.then(() => {
    state.hasEnded = true;
  });
  return { state, ended };
}

const waiting = [
  { name: 'of this workspace and another', scope: ['a', 'c'] },
  { name: 'of the whole database', scope: null },
];

for (const { name, scope } of waiting) {
  test(`a write ${name} that waits delays no other workspace`, options, async (t) => {
    const { near, end, serveOthers } = await openHubs(t);
    const { state, ended } = watch(near.write(scope, async (tx) => tx.allSql('SELECT 1', [])));
    for (let round = 0; round < 3; round++) await serveOthers();
    assert.equal(state.hasEnded, false);
    end();
    await ended;
  });
}

test(
  'more writes that wait than a hub has connections take none from others',
  options,
  async (t) => {
    const { near, end, serveOthers } = await openHubs(t);
    const people = Array.from({ length: 3 * SESSIONS_MAX }, (_, at) => `person ${at}`);
    const writes = people.map((person) =>
      watch(near.write([person, 'c'], async (tx) => tx.allSql('SELECT 1', []))),
    );
    for (let round = 0; round < 3; round++) await serveOthers();
    assert.ok(writes.every(({ state }) => !state.hasEnded));
    end();
    await Promise.all(writes.map(({ ended }) => ended));
  },
);
