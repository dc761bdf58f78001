import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { createWorkspaceByAdmin, readConfig } from '@signalbox/hub';
import pg from 'pg';
import { startHubChild } from '../support/hub-child.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { takeDatabase } from '../support/test-engine.ts';

/* Commands of the operator while another program holds a lock of the database. */

const options = { timeout: 120_000 };

/** A migrated database that another program has locked. */
async function setup(t: TestContext) {
  const dataDir = makeTempDir(t);
  const taken = await takeDatabase(dataDir);
  const { databaseUrl } = taken.config;
  const unlock = await lockDatabase(dataDir, databaseUrl);
  t.after(async () => {
    await unlock();
    await taken.release();
  });
  const env: Record<string, string> = databaseUrl === null ? {} : { SVC_DATABASE_URL: databaseUrl };
  return { dataDir, unlock, env, config: { ...readConfig(env), dataDir } };
}

/** @returns ends the lock. */
async function lockDatabase(dataDir: string, databaseUrl: string | null) {
  if (databaseUrl === null) {
    const other = new DatabaseSync(join(dataDir, 'signalbox.db'));
    other.exec('BEGIN IMMEDIATE');
    return async () => {
      if (other.isOpen) other.close();
    };
  }
  const other = new pg.Client({ connectionString: databaseUrl });
  await other.connect();
  await other.query('BEGIN; SELECT pg_advisory_xact_lock(20891, 0)');
  return () => other.end();
}

test('commands and the start of a hub say that the database is busy', options, async (t) => {
  const { dataDir, config, env, unlock } = await setup(t);
  let said = '';
  const onErrorText = (text: string) => {
    said += text;
  };
  const draft = { slug: 'late', name: 'Late' };
  await Promise.all([
    assert.rejects(
      createWorkspaceByAdmin(config, draft),
      /^HubError: The database is busy: .*Try ag/,
    ),
    assert.rejects(startHubChild(t, dataDir, { env, onErrorText }), /ended before it listened/),
  ]);
  assert.match(said, /Error: The database is busy: .*try again/is);
  assert.doesNotMatch(said, /Error: The database at|cannot be opened/);
  await unlock();
  assert.equal((await createWorkspaceByAdmin(config, draft)).slug, 'late');
  await startHubChild(t, dataDir, { env });
});
