import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { CopyOutcome } from '../../src/db/sqlite/copy-log.ts';
import { openSqlite, type SqliteOptions } from '../../src/db/sqlite/sqlite-database.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const PAGES = 400;
const PAGE_BYTES = 4_096;
const SQLITE_IOERR_FSYNC = 1_034;

async function open(t: TestContext, options: SqliteOptions) {
  const path = join(makeTempDir(t), 'test.db');
  const database = openSqlite(path, createManualClock(), { checkpointPages: PAGES, ...options });
  t.after(() => database.close());
  await database.write(null, (tx) => tx.runSql('CREATE TABLE notes (note TEXT)', []));
  /** A transaction that adds about ten pages to the log. */
  const insert = () =>
    database.write(null, async (tx) => {
      await tx.runSql('INSERT INTO notes (note) VALUES (?)', ['x'.repeat(10 * PAGE_BYTES)]);
    });
  const insertMany = async (count: number) => {
    for (let done = 0; done < count; done++) await insert();
  };
  return { database, path, insert, insertMany };
}

test('a commit never copies the log: writes continue during a pass, and pause for the last one', async (t) => {
  let path = '';
  /** Each ends a pass, which has copied what was there at its start. */
  const passes: (() => void)[] = [];
  const copyLog = () =>
    new Promise<CopyOutcome>((resolve) => {
      const db = new DatabaseSync(path);
      db.exec('PRAGMA wal_checkpoint(PASSIVE)');
      db.close();
      passes.push(() => resolve(null));
    });
  const opened = await open(t, { copyLog });
  ({ path } = opened);
  const { insert } = opened;
  for (let done = 0; passes.length === 0; done++) {
    assert.equal(statSync(path).size, PAGE_BYTES, `no commit copies the log, as after ${done}`);
    await insert();
  }
  const fileBytes = statSync(path).size;
  await insert();
  assert.equal(statSync(path).size, fileBytes, 'writes continue during the pass');
  passes.shift()?.();
  await new Promise((resolve) => setImmediate(resolve));
  let isWritten = false;
  const written = insert().then(() => {
    isWritten = true;
  });
  await until('the last pass has begun', () => passes.length === 1);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isWritten, false, 'writes pause for the last pass');
  const logBytes = statSync(`${path}-wal`).size;
  passes.shift()?.();
  await written;
  await insert();
  assert.equal(statSync(`${path}-wal`).size, logBytes, 'the log has started again');
});

test('another thread copies the log of a database that is written all the time', async (t) => {
  const { database, path, insertMany } = await open(t, {});
  await Promise.all(Array.from({ length: 4 }, () => insertMany(300)));
  const logPages = statSync(`${path}-wal`).size / PAGE_BYTES;
  // On a busy machine the other thread is late; without it, all pages would be in the log.
  assert.ok(logPages < 20 * PAGES, `${logPages} of some 13,000 pages that were written`);
  assert.deepEqual(await database.reader.allSql('SELECT COUNT(*) AS notes FROM notes', []), [
    { notes: 1_200 },
  ]);
});

test('a reader of another process only defers the copy', async (t) => {
  const { path, insertMany } = await open(t, {});
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('BEGIN; SELECT COUNT(*) FROM notes');
  await insertMany(100);
  other.exec('COMMIT');
  const logBytes = () => statSync(`${path}-wal`).size;
  const before = logBytes();
  // The log restarts as soon as it was copied whole, and does not grow from then on.
  let last = 0;
  await until('the log has started again', async () => {
    last = logBytes();
    await insertMany(1);
    return last >= before && logBytes() === last;
  });
});

test('a disk that fails during a pass stops the database; any other failure does not', async (t) => {
  const failures: string[] = [];
  const outcomes: CopyOutcome[] = [
    { errcode: 5, message: 'database is locked' },
    { errcode: SQLITE_IOERR_FSYNC, message: 'disk I/O error' },
  ];
  const { insert, insertMany } = await open(t, {
    copyLog: async () => outcomes.shift() ?? null,
    onDiskFailure: ({ message }) => failures.push(message),
  });
  await insertMany(60);
  assert.equal(outcomes.length, 1);
  await insertMany(10);
  assert.equal(outcomes.length, 1, 'the next pass has more to copy');
  await assert.rejects(insertMany(100), { code: 'UNAVAILABLE' });
  assert.deepEqual(failures, ['disk I/O error']);
  await assert.rejects(insert(), { code: 'UNAVAILABLE', message: /disk of the hub failed/ });
});
