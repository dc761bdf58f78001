import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { listEvents } from '../../src/jobs/store-events.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { testEngine } from '../support/test-engine.ts';

const empty = { fingerprint: 'empty', prepare: async () => {} };

test('the migration to keys keeps the jobs of an older database and their events', async (t) => {
  const created = testEngine === 'postgres' ? await createTestDatabase(empty) : null;
  const config = { ...readConfig({}), databaseUrl: created?.url ?? null, databaseSessions: 2 };
  const path = join(makeTempDir(t), 'signalbox.db');
  const database = await openDatabase(config, path, systemClock);
  t.after(async () => {
    await database.close();
    await created?.drop();
  });
  await migrate(
    database,
    migrations.filter(({ version }) => version < 37),
  );
  const ids = ['job_1', 'job_2'];
  await database.write(null, async (tx) => {
    for (const jobId of ids) {
      await tx.runSql(
        `INSERT INTO jobs (workspace_id, job_id, repo_id, kind, role, prompt, depends_on,
           created_by, decisions, title, depth)
         VALUES ('ws_1', ?, 'repo_1', 'work', 'implementer', 'Do it.', '[]', 'usr_1', '[]', ?, 3)`,
        [jobId, `Title of ${jobId}`],
      );
      for (const seq of [1, 2]) {
        await tx.runSql(
          `INSERT INTO job_events (workspace_id, job_id, seq, kind, at, attempt, message)
           VALUES ('ws_1', ?, ?, 'log', 5, 1, ?)`,
          [jobId, seq, `${jobId}, event ${seq}`],
        );
      }
    }
  });
  // Two texts, because a session of PostgreSQL keeps the columns of a statement.
  const readJobs = (order: string) =>
    database.reader.allSql<{ job_key?: number }>(`SELECT * FROM jobs ORDER BY ${order}`, []);
  const before = await readJobs('job_id');
  await migrate(database);
  const after = (await readJobs('workspace_id, job_id')).map(({ job_key: _key, ...row }) => row);
  assert.deepEqual(after.map(sorted), before.map(sorted));
  for (const jobId of ids) {
    const events = await listEvents(database.reader, 'ws_1', jobId, { after: 0, limit: 10 });
    const messages = events.map(({ message }) => message);
    assert.deepEqual(messages, [`${jobId}, event 1`, `${jobId}, event 2`]);
  }
});

function sorted(row: object): [string, unknown][] {
  return Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1));
}
