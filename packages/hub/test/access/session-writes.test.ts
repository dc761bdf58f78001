import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import type { Database } from '../../src/db/engine.ts';
import { createPasswordReset } from '../../src/people/reset-password.ts';
import { makeOwner, PASSWORD } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';

const { account, passwordResets, serviceTokens } = consoleEndpoints;

/** Counts the writes that were handed to a database. */
function countWrites(database: Database): () => number {
  const { write } = database;
  let count = 0;
  database.write = (scope, action) => {
    count += 1;
    return write(scope, action);
  };
  return () => count;
}

test('a console request that was authenticated before a password reset writes nothing after it', async (t) => {
  const hub = await startTestHub(t);
  const { browser, workspaceId } = await makeOwner(hub);
  const { database } = hub;
  const link = await database.write(null, (tx) =>
    createPasswordReset(tx, { email: 'ada@acme.dev', createdBy: 'operator' }),
  );
  const count = countWrites(database);
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  // Holds up the writes, so that requests are authenticated and wait.
  const blocker = database.write(null, () => opened);
  const reset = hub.visitor().codeOf(passwordResets.setPassword, {
    ...{ linkToken: link?.linkToken ?? '', newPassword: `${PASSWORD} too` },
  });
  await until('the reset waits to be written', () => count() === 2);
  const mint = browser.codeOf(serviceTokens.mint, { workspaceId, name: 'later' });
  await until('the other request waits to be written', () => count() === 3);
  open();
  await blocker;
  assert.deepEqual([await reset, await mint], ['ok', 'SESSION_REQUIRED']);
  const minted = await database.reader.allSql(`SELECT 1 FROM tokens WHERE name = 'later'`, []);
  assert.equal(minted.length, 0);
  assert.equal(await browser.codeOf(account.update, { name: 'Ada' }), 'SESSION_REQUIRED');
});
