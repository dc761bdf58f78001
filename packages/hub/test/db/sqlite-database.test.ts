import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { HubError } from '../../src/base/errors.ts';
import { actFor } from '../../src/db/acting-caller.ts';
import type { Reader, RowWrite, Tx } from '../../src/db/engine.ts';
import { migrate, SchemaVersionError } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { Connection } from '../../src/db/sqlite/sqlite-connection.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite-database.ts';
import { countTurns } from '../support/event-loop-turns.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

function openTestDatabase(t: TestContext) {
  const path = join(makeTempDir(t), 'test.db');
  const database = openSqlite(path, createManualClock());
  t.after(() => database.close());
  return { database, path };
}

async function createNotes(t: TestContext) {
  const opened = openTestDatabase(t);
  await opened.database.write(null, async (tx) => {
    await tx.runSql('CREATE TABLE notes (note TEXT NOT NULL UNIQUE)', []);
  });
  const insert = (note: string) =>
    opened.database.write(null, async (tx) => {
      await tx.runSql('INSERT INTO notes (note) VALUES (?)', [note]);
      return note;
    });
  const list = async () => {
    const rows = await opened.database.reader.allSql<{ note: string }>(
      'SELECT note FROM notes ORDER BY note',
      [],
    );
    return rows.map((row) => row.note);
  };
  return { ...opened, insert, list };
}

test('waiting actions share one transaction, and each gets its own value', async (t) => {
  const { insert, list, path } = await createNotes(t);
  const observer = new DatabaseSync(path);
  t.after(() => observer.close());
  const version = () => observer.prepare('PRAGMA data_version').get()?.data_version;
  const before = version();
  const names = Array.from({ length: 100 }, (_, i) => `note ${i}`);
  assert.deepEqual(await Promise.all(names.map(insert)), names);
  assert.equal((await list()).length, 100);
  assert.notEqual(version(), before);
});

test('an action that throws leaves nothing, and the others of its transaction commit', async (t) => {
  const { database, insert, list } = await createNotes(t);
  const refused = database.write(null, async (tx) => {
    await tx.runSql('INSERT INTO notes (note) VALUES (?)', ['half']);
    throw new HubError('NOT_ALLOWED');
  });
  const outcomes = await Promise.allSettled([insert('a'), refused, insert('a'), insert('b')]);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await list(), ['a', 'b']);
});

const insertNote = (note: string): RowWrite => ({
  verb: 'insert',
  table: 'notes',
  set: { note },
  where: {},
});
const renameNote = (from: string, to: string): RowWrite => ({
  verb: 'update',
  table: 'notes',
  set: { note: to },
  where: { note: from },
});

test('a write that is sent changes one row, or its action fails', async (t) => {
  const { database, list } = await createNotes(t);
  await database.write(null, async (tx) => {
    tx.send(insertNote('a'));
    tx.send(renameNote('a', 'b'));
  });
  const missed = database.write(null, async (tx) => {
    tx.send(insertNote('c'));
    tx.send(renameNote('missing', 'd'));
  });
  await assert.rejects(missed, /changed 0 rows instead of one/);
  assert.deepEqual(await list(), ['b']);
});

test('a concurrent action that fails after it wrote leaves nothing, and the others commit', async (t) => {
  const { database, list } = await createNotes(t);
  const calls: string[] = [];
  const runs = new Map<string, number>();
  const concurrent = (note: string, end: (tx: Tx) => void = () => undefined) =>
    database.writeConcurrent({ workspaceId: 'w', keys: [] }, async (tx) => {
      runs.set(note, (runs.get(note) ?? 0) + 1);
      await tx.runSql('INSERT INTO notes (note) VALUES (?)', [note]);
      tx.afterCommit(() => calls.push(note));
      end(tx);
      return note;
    });
  const refuse = () => {
    throw new HubError('NOT_ALLOWED');
  };
  const outcomes = await Promise.allSettled([
    concurrent('a'),
    concurrent('half', refuse),
    concurrent('b'),
    concurrent('a'),
    database.write('w', async (tx) => {
      await tx.runSql('INSERT INTO notes (note) VALUES (?)', ['exclusive']);
      refuse();
    }),
    concurrent('c'),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'refused')),
    ['a', 'refused', 'b', 'refused', 'refused', 'c'],
  );
  assert.deepEqual(await list(), ['a', 'b', 'c']);
  assert.deepEqual(calls, ['a', 'b', 'c']);
  // The failure of the second made both run again; after that each action had a savepoint.
  assert.deepEqual(Object.fromEntries(runs), { a: 3, half: 2, b: 1, c: 1 });
});

test('a concurrent action that is refused before it writes makes no other run again', async (t) => {
  const { database, list } = await createNotes(t);
  let runs = 0;
  const scope = { workspaceId: 'w', keys: [] };
  const kept = database.writeConcurrent(scope, async (tx) => {
    runs += 1;
    await tx.runSql('INSERT INTO notes (note) VALUES (?)', ['kept']);
  });
  const refused = database.writeConcurrent(scope, async (tx) => {
    await tx.allSql('SELECT note FROM notes', []);
    throw new HubError('NOT_ALLOWED');
  });
  await assert.rejects(refused, { code: 'NOT_ALLOWED' });
  await kept;
  assert.equal(runs, 1);
  assert.deepEqual(await list(), ['kept']);
});

test('readers see nothing of an action before it commits', async (t) => {
  const { database, list } = await createNotes(t);
  let seenWithin: string[] | undefined;
  await database.write(null, async (tx) => {
    await tx.runSql('INSERT INTO notes (note) VALUES (?)', ['pending']);
    seenWithin = await list();
  });
  assert.deepEqual(seenWithin, []);
  assert.deepEqual(await list(), ['pending']);
});

test('afterCommit calls are made once the action is durable, and never for a refused one', async (t) => {
  const { database, list } = await createNotes(t);
  const calls: string[] = [];
  const accepted = database.write(null, async (tx) => {
    await tx.runSql('INSERT INTO notes (note) VALUES (?)', ['kept']);
    tx.afterCommit(() => calls.push('accepted'));
  });
  const refused = database.write(null, async (tx) => {
    tx.afterCommit(() => calls.push('refused'));
    throw new HubError('NOT_ALLOWED');
  });
  await Promise.allSettled([accepted, refused]);
  assert.deepEqual(calls, ['accepted']);
  assert.deepEqual(await list(), ['kept']);
});

test('a database that cannot grow refuses with UNAVAILABLE and works again afterwards', async (t) => {
  const { database, insert, list } = await createNotes(t);
  const pages = await database.write(null, async (tx) => {
    const row = await tx.firstSql<{ page_count: number }>('PRAGMA page_count', []);
    await tx.firstSql(`PRAGMA max_page_count = ${row?.page_count ?? 0}`, []);
    return row?.page_count ?? 0;
  });
  assert.ok(pages > 0);
  await assert.rejects(insert('x'.repeat(100_000)), { code: 'UNAVAILABLE' });
  await database.write(null, async (tx) => {
    await tx.firstSql('PRAGMA max_page_count = 1000000', []);
  });
  await insert('after');
  assert.deepEqual(await list(), ['after']);
});

/** A disk whose syncs end when the test decides. */
function createSlowDisk() {
  const syncs: ((error: Error | null) => void)[] = [];
  const waiting: ((count: number) => void)[] = [];
  return {
    syncFile(_file: number, done: (error: Error | null) => void) {
      syncs.push(done);
      for (const tell of waiting.splice(0)) tell(syncs.length);
    },
    /** Resolves when a sync is in progress. */
    async sync(): Promise<(error: Error | null) => void> {
      if (syncs.length === 0) await new Promise((resolve) => waiting.push(resolve));
      const done = syncs.shift();
      assert.ok(done !== undefined);
      return done;
    },
  };
}

async function openOnSlowDisk(t: TestContext) {
  const disk = createSlowDisk();
  const path = join(makeTempDir(t), 'test.db');
  const failures: string[] = [];
  const database = openSqlite(path, createManualClock(), {
    syncFile: disk.syncFile,
    onDiskFailure: ({ message }) => failures.push(message),
  });
  const create = database.write(null, (tx) => tx.runSql('CREATE TABLE notes (note TEXT)', []));
  (await disk.sync())(null);
  await create;
  const insert = (note: string) =>
    database.write(null, async (tx) => {
      await tx.runSql('INSERT INTO notes (note) VALUES (?)', [note]);
      return note;
    });
  const list = () => database.reader.allSql<{ note: string }>('SELECT note FROM notes', []);
  return { disk, database, insert, list, path, failures };
}

test('no caller learns of a commit, and no reader sees it, before it is on the disk', async (t) => {
  const { disk, database, insert, list } = await openOnSlowDisk(t);
  const told: string[] = [];
  const first = insert('first').then((note) => told.push(note));
  const synced = await disk.sync();
  const seen = list().then((rows) => told.push(`${rows.length} read`));
  const second = insert('second').then((note) => told.push(note));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(told, []);
  synced(null);
  await Promise.all([first, seen]);
  assert.deepEqual(told, ['first', '1 read']);
  (await disk.sync())(null);
  await second;
  await database.close();
});

test('an action that wrote nothing waits only for the syncs of commits that it read', async (t) => {
  const { disk, database, insert } = await openOnSlowDisk(t);
  const count = async () => {
    const rows = await database.writeConcurrent({ workspaceId: 'w', keys: [] }, (tx) =>
      tx.allSql('SELECT note FROM notes', []),
    );
    return rows.length;
  };
  // No sync ends here.
  assert.equal(await count(), 0);
  const told: string[] = [];
  const inserted = insert('first').then((note) => told.push(note));
  const synced = await disk.sync();
  const counted = count().then((rows) => told.push(`${rows} read`));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(told, []);
  synced(null);
  await Promise.all([inserted, counted]);
  assert.deepEqual(told, ['first', '1 read']);
  await database.close();
});

test('after a failed sync everything is refused, and the log is left as it is', async (t) => {
  const { disk, database, insert, list, path, failures } = await openOnSlowDisk(t);
  const doubtful = insert('doubtful');
  const synced = await disk.sync();
  const seen = list();
  const waiting = insert('waiting');
  await new Promise((resolve) => setImmediate(resolve));
  const log = readFileSync(`${path}-wal`);
  synced(Object.assign(new Error('I/O error'), { code: 'EIO' }));
  await assert.rejects(doubtful, { code: 'UNAVAILABLE', message: /may or may not/ });
  // They saw, or were about to change, what the disk may not have.
  for (const write of [waiting, insert('later')]) {
    await assert.rejects(write, { code: 'UNAVAILABLE', message: /nothing of this request/ });
  }
  for (const read of [seen, list()]) await assert.rejects(read, { code: 'UNAVAILABLE' });
  assert.deepEqual(failures, ['I/O error']);
  await database.close();
  assert.deepEqual(readFileSync(`${path}-wal`), log);
});

test('the next start finds what was durable, although the disk dropped what was not', async (t) => {
  const { disk, database, insert, path } = await openOnSlowDisk(t);
  const kept = insert('kept');
  (await disk.sync())(null);
  await kept;
  const durableBytes = statSync(`${path}-wal`).size;
  const lost = insert('lost');
  (await disk.sync())(new Error('I/O error'));
  await assert.rejects(lost);
  await database.close();
  // The files as a new process finds them: without the pages that were never written.
  const found = join(makeTempDir(t), 'test.db');
  copyFileSync(path, found);
  const log = readFileSync(`${path}-wal`);
  assert.ok(log.length > durableBytes);
  writeFileSync(`${found}-wal`, log.fill(0, durableBytes));
  const reopened = openSqlite(found, createManualClock(), { emptiesLog: true });
  t.after(() => reopened.close());
  assert.equal(statSync(`${found}-wal`).size, 0);
  const { reader } = reopened;
  assert.deepEqual(await reader.allSql('SELECT note FROM notes', []), [{ note: 'kept' }]);
  assert.deepEqual(await reader.allSql('PRAGMA integrity_check', []), [{ integrity_check: 'ok' }]);
});

test('another process may hold the lock, and requests are answered meanwhile', async (t) => {
  const { database, insert, list, path } = await createNotes(t);
  // SQLite itself would wait without a turn of the event loop.
  const readWait = async (reader: Reader) =>
    (await reader.firstSql<{ timeout: number }>('PRAGMA busy_timeout', []))?.timeout ?? 0;
  for (const waitMs of [await database.write(null, readWait), await readWait(database.reader)]) {
    assert.ok(waitMs <= 10, `a statement waits ${waitMs} ms for a lock`);
  }
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const loop = countTurns();
  const inserted = insert('waits');
  await until('the event loop has turned meanwhile', () => loop.turns > 500);
  assert.deepEqual(await list(), [], 'reads continue, and nothing is written yet');
  other.exec('COMMIT');
  assert.equal(await inserted, 'waits');
  loop.stop();
  assert.deepEqual(await list(), ['waits']);
});

test('slow actions of one transaction leave turns of the event loop between them', async (t) => {
  const { database, list } = await createNotes(t);
  const loop = countTurns();
  const turns = new Set<number>();
  const slow = (note: string) =>
    database.write(null, async (tx) => {
      turns.add(loop.turns);
      const endMs = performance.now() + 15;
      while (performance.now() < endMs);
      await tx.runSql('INSERT INTO notes (note) VALUES (?)', [note]);
    });
  const writes = Array.from({ length: 20 }, (_, at) => slow(`note ${at}`));
  await Promise.all(writes);
  loop.stop();
  assert.ok(turns.size >= 19, `the actions ran in ${turns.size} turns`);
  assert.equal((await list()).length, 20);
});

test('expensive actions of one caller neither precede nor delay the commit of others', async (t) => {
  // Each expensive action takes 7 ms by this clock, and a transaction ends after 10 ms.
  let nowMs = 0;
  const path = join(makeTempDir(t), 'test.db');
  const database = openSqlite(path, createManualClock(), { elapsedMs: () => nowMs });
  t.after(() => database.close());
  const ended: string[] = [];
  const act = (key: string, note: string, tookMs: number) =>
    actFor({ key, workspaceId: null, guard: null, isLongRead: false }, () =>
      database.writeConcurrent({ workspaceId: 'w', keys: [] }, async () => {
        nowMs += tookMs;
      }),
    ).then(() => ended.push(note));
  const expensive = Array.from({ length: 6 }, (_, at) => act('attacker', `expensive ${at}`, 7));
  const cheap = ['cheap 0', 'cheap 1'].map((note) => act('agent', note, 0.1));
  await Promise.all([...expensive, ...cheap]);
  assert.deepEqual(ended, [
    ...['expensive 0', 'cheap 0', 'cheap 1', 'expensive 1'],
    ...['expensive 2', 'expensive 3', 'expensive 4', 'expensive 5'],
  ]);
  const lone = Array.from({ length: 4 }, (_, at) => act('attacker', `lone ${at}`, 7));
  await Promise.race(lone);
  assert.equal(ended.length, 8 + 2, 'the first two are answered before the others have run');
  await Promise.all(lone);
});

test('row ids beyond the safe integers of JavaScript do no harm', async (t) => {
  const { database, insert, list } = await createNotes(t);
  // Full-text search writes such rows itself, and SQLite reports the last row id.
  await database.write(null, async (tx) => {
    await tx.runSql('INSERT INTO notes (rowid, note) VALUES (9009535716950016, ?)', ['far']);
    await tx.runSql('DELETE FROM notes WHERE note = ?', ['none']);
  });
  await insert('near');
  assert.deepEqual(await list(), ['far', 'near']);
});

test('only the owner may read the database and its logs', async (t) => {
  const { insert, path } = await createNotes(t);
  await insert('secret');
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
  }
});

test('a closed database refuses new actions and has finished the earlier ones', async (t) => {
  const { database, list, path } = await createNotes(t);
  const last = database.write(null, async (tx) => {
    await tx.runSql('INSERT INTO notes (note) VALUES (?)', ['last']);
  });
  await database.close();
  await last;
  await assert.rejects(
    database.write(null, async () => undefined),
    { code: 'UNAVAILABLE' },
  );
  await assert.rejects(list(), { code: 'UNAVAILABLE' });
  const reopened = new DatabaseSync(path);
  t.after(() => reopened.close());
  assert.equal(reopened.prepare('SELECT COUNT(*) AS n FROM notes').get()?.n, 1);
});

test('migrations run once, in order, and continue from the version of the database', async (t) => {
  const { database } = openTestDatabase(t);
  const first = { version: 1, name: 'one', statements: () => ['CREATE TABLE one (x INTEGER)'] };
  const second = { version: 2, name: 'two', statements: () => ['CREATE TABLE two (x INTEGER)'] };
  assert.deepEqual(await migrate(database, [first]), [1]);
  assert.deepEqual(await migrate(database, [first, second]), [2]);
  assert.deepEqual(await migrate(database, [first, second]), []);
});

test('a migration that fails leaves the schema as it was', async (t) => {
  const { database } = openTestDatabase(t);
  const broken = {
    version: 1,
    name: 'broken',
    statements: () => ['CREATE TABLE half (x INTEGER)', 'CREATE NONSENSE'],
  };
  await assert.rejects(migrate(database, [broken]));
  const tables = await database.reader.allSql(
    "SELECT name FROM sqlite_master WHERE type = 'table'",
    [],
  );
  assert.deepEqual(tables, []);
});

test('a database of a newer version is refused and not changed', async (t) => {
  const { database } = openTestDatabase(t);
  await migrate(database, [{ version: 1_000_000, name: 'future', statements: () => [] }]);
  await assert.rejects(migrate(database), SchemaVersionError);
});

test('a database from before the first release is refused and not changed', async (t) => {
  const { database } = openTestDatabase(t);
  const steps = migrations.map((migration) => ({ ...migration, version: migration.version - 2 }));
  await migrate(database, steps);
  await assert.rejects(migrate(database), /start the checkout \w+ of Signalbox on it once/);
  // All steps to the first release were taken, one by one.
  const last = { version: migrations[0]?.version ?? 0, name: 'last', statements: () => [] };
  await migrate(database, [...steps, last]);
  assert.deepEqual(await migrate(database), []);
});

test('checkpoints reach the disk itself on macOS too', async (t) => {
  const connection = new Connection(join(makeTempDir(t), 'test.db'), { readOnly: false });
  t.after(() => connection.close());
  // The setting exists everywhere and has an effect on macOS only.
  const row = await connection.firstSql('PRAGMA checkpoint_fullfsync', []);
  assert.deepEqual(row, { checkpoint_fullfsync: 1 });
});

test('a file that cannot be opened as a database is refused, and nothing of it stays open', (t) => {
  const path = join(makeTempDir(t), 'signalbox.db');
  writeFileSync(path, 'This is a letter, and no database. '.repeat(100));
  // Open files of this process, on systems with such a folder.
  const countOpen = () => readdirSync('/dev/fd').length;
  const before = countOpen();
  assert.throws(
    () => openSqlite(path, createManualClock()),
    /cannot be opened .*restore it from a backup/,
  );
  assert.equal(countOpen(), before);
});
