import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import type { Database } from '../../src/db/engine.ts';
import { createPasswordReset } from '../../src/people/reset-password.ts';
import { makeOwner, PASSWORD } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';

const { account, passwordResets, serviceTokens } = consoleEndpoints;

/** Holds up the next write that is handed to a database. */
function holdNextWrite(database: Database) {
  const write = database.write.bind(database);
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  database.write = async (scope, action) => {
    database.write = write;
    arrive();
    await released;
    return write(scope, action);
  };
  return { arrived, release };
}

test('a console request that was authenticated before a password reset writes nothing after it', async (t) => {
  const hub = await startTestHub(t);
  const { browser, workspaceId } = await makeOwner(hub);
  const { database } = hub;
  const link = await database.write(null, (tx) =>
    createPasswordReset(tx, { email: 'ada@acme.dev', createdBy: 'operator' }),
  );
  const { arrived, release } = holdNextWrite(database);
  const mint = browser.codeOf(serviceTokens.mint, { workspaceId, name: 'later' });
  // The request is authenticated by then, and only waits to be written.
  await arrived;
  const reset = await hub.visitor().codeOf(passwordResets.setPassword, {
    linkToken: link?.linkToken ?? '',
    newPassword: `${PASSWORD} too`,
  });
  release();
  assert.deepEqual([reset, await mint], ['ok', 'SESSION_REQUIRED']);
  const minted = await database.reader.allSql(`SELECT 1 FROM tokens WHERE name = 'later'`, []);
  assert.equal(minted.length, 0);
  assert.equal(await browser.codeOf(account.update, { name: 'Ada' }), 'SESSION_REQUIRED');
});
