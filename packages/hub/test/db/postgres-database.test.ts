import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import { HubError } from '../../src/base/errors.ts';
import { actFor } from '../../src/db/acting-caller.ts';
import type { BatchedWork, Database, Reader, Tx } from '../../src/db/engine.ts';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';

/*
 * The promises of `db/engine.ts` that take more on PostgreSQL than on SQLite: concurrent
 * transactions, several hubs, merged statements.
 */

const limits = { connectMs: 3_000, statementMs: 5_000, lockMs: 4_000, idleInTransactionMs: 5_000 };

const template = {
  fingerprint: 'postgres-engine notes 1',
  async prepare(url: string) {
    const database = openPostgres({ url, sessionsMax: 3, limits, isPooled: false });
    await database.write(null, async (tx) => {
      await tx.runSql(
        `CREATE TABLE notes (workspace_id TEXT NOT NULL, note TEXT NOT NULL, amount BIGINT,
           ratio DOUBLE PRECISION, PRIMARY KEY (workspace_id, note))`,
        [],
      );
    });
    await database.close();
  },
};

/** Opens a database and the given number of hubs on it. */
async function openHubs<Count extends number>(t: TestContext, count: Count) {
  const { url, drop } = await createTestDatabase(template);
  const hubs = Array.from({ length: count }, () =>
    openPostgres({ url, sessionsMax: 9, limits, isPooled: false }),
  );
  t.after(async () => {
    await Promise.all(hubs.map((hub) => hub.close()));
    await drop();
  });
  return { url, hubs };
}

/** A hub with very short time limits for statements. */
function openHasty(t: TestContext, { url, isPooled }: { url: string; isPooled: boolean }) {
  const hasty = { ...limits, statementMs: 200 };
  const hub = openPostgres({ url, sessionsMax: 3, limits: hasty, isPooled });
  t.after(() => hub.close());
  return hub;
}

async function openHub(t: TestContext): Promise<Database> {
  const { hubs } = await openHubs(t, 1);
  const [hub] = hubs;
  assert(hub !== undefined);
  return hub;
}

const insertNote = (tx: Tx, note: string, amount: number | null = null) =>
  tx.runSql('INSERT INTO notes (workspace_id, note, amount) VALUES (?, ?, ?)', [
    'home',
    note,
    amount,
  ]);

const readNote = (reader: Reader, note: string) =>
  reader.firstSql<{ note: string; amount: number | null }>(
    'SELECT note, amount FROM notes WHERE workspace_id = ? AND note = ?',
    ['home', note],
  );

async function listNotes(database: Database): Promise<string[]> {
  const rows = await database.reader.allSql<{ note: string }>(
    'SELECT note FROM notes ORDER BY note',
    [],
  );
  return rows.map((row) => row.note);
}

/** Runs concurrent actions twice: the engine only merges statements that it has seen before. */
async function runConcurrently<T>(
  database: Database,
  names: readonly string[],
  action: (tx: Tx, name: string, at: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(
    names.map((name, at) =>
      database.writeConcurrent({ workspaceId: 'home', keys: [name] }, (tx) => action(tx, name, at)),
    ),
  );
}

const namesOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${prefix} ${String(at).padStart(3, '0')}`);

test('concurrent actions share transactions, and each gets its own answers', async (t) => {
  const database = await openHub(t);
  for (const prefix of ['first', 'second', 'third']) {
    const names = namesOf(prefix, 60);
    const transactions = await runConcurrently(database, names, async (tx, name, at) => {
      assert.equal(await readNote(tx, name), undefined);
      await insertNote(tx, name, at % 2 === 0 ? at : null);
      const read = await readNote(tx, name);
      assert.deepEqual(read, { note: name, amount: at % 2 === 0 ? at : null });
      const updated = await tx.runSql(
        `UPDATE notes SET amount = ?, ratio = ? WHERE workspace_id = ? AND note = ?
         RETURNING note, amount`,
        [2 ** 40 + at, at / 3, 'home', name],
      );
      assert.deepEqual(updated.rows, [{ note: name, amount: 2 ** 40 + at }]);
      const { changes } = await tx.runSql(
        'UPDATE notes SET amount = ? WHERE workspace_id = ? AND note = ?',
        [at, 'home', at === 7 ? 'missing' : name],
      );
      assert.equal(changes, at === 7 ? 0 : 1);
      const later = await tx.allSql<{ note: string }>(
        `SELECT note FROM notes WHERE workspace_id = ? AND note >= ? AND note <= ?
         ORDER BY note DESC LIMIT ?`,
        ['home', name, `${prefix} 999`, 3],
      );
      assert.ok(later.length <= 3 && later.every((row) => row.note >= name));
      assert.equal(later[0]?.note, names[59]);
      const row = await tx.firstSql<{ id: string }>(
        'SELECT pg_current_xact_id()::text AS id WHERE ? <> ?',
        ['a', 'b'],
      );
      return row?.id;
    });
    assert.ok(new Set(transactions).size <= 4, `${new Set(transactions).size} transactions`);
  }
  assert.equal((await listNotes(database)).length, 180);
});

test('an action that takes too long is refused without the others', async (t) => {
  const { url, hubs } = await openHubs(t, 1);
  const hasty = openHasty(t, { url, isPooled: false });
  const ends = await Promise.allSettled([
    hasty.write('home', (tx) => insertNote(tx, 'before')),
    hasty.write('home', async (tx) => {
      await insertNote(tx, 'slow');
      await tx.firstSql('SELECT pg_sleep(30)::text AS slept', []);
    }),
    hasty.write('home', (tx) => insertNote(tx, 'after')),
  ]);
  assert.deepEqual(
    ends.map((end) => (end.status === 'rejected' ? end.reason.code : 'kept')),
    ['kept', 'UNAVAILABLE', 'kept'],
  );
  const [hub] = hubs;
  assert(hub !== undefined);
  assert.deepEqual(await listNotes(hub), ['after', 'before']);
});

test('behind a pooler, a single read has its time limit too', async (t) => {
  const { url } = await openHubs(t, 1);
  const pooled = openHasty(t, { url, isPooled: true });
  const ask = (text: string) => pooled.reader.firstSql<{ answer: string }>(text, []);
  await assert.rejects(ask('SELECT pg_sleep(30)::text AS answer'), { code: 'UNAVAILABLE' });
  await assert.rejects(ask('SELECT nothing FROM nowhere'), /nowhere/);
  assert.deepEqual(await ask("SELECT 'still there' AS answer"), { answer: 'still there' });
});

test('equal reads at the same time become one, and different reads do not', async (t) => {
  const database = await openHub(t);
  const draw = (asked: (at: number) => string) =>
    runConcurrently(database, namesOf('draw', 20), async (tx, _name, at) => {
      const row = await tx.firstSql<{ drawn: string }>(
        "SELECT gen_random_uuid()::text AS drawn, ? || '' AS asked",
        [asked(at)],
      );
      return row?.drawn;
    });
  // A transaction takes the actions that wait when it begins: the first may have a single one.
  assert.ok(new Set(await draw(() => 'the same')).size <= 3);
  assert.equal(new Set(await draw((at) => `number ${at}`)).size, 20);
  assert.ok(new Set(await draw((at) => `half ${at % 2}`)).size <= 6);
});

test('long reads leave connections to short ones, and their callers have turns', async (t) => {
  const hub = await openHub(t);
  const read = (key: string, isLongRead: boolean, sql: string) =>
    actFor({ key, workspaceId: null, guard: null, isLongRead }, () => hub.reader.allSql(sql, []));
  const ended: string[] = [];
  const long = (key: string, name: string) =>
    read(key, true, 'SELECT pg_advisory_xact_lock_shared(7)').then(() => ended.push(name));
  let reads: Promise<unknown>[] = [];
  await hub.write(null, async (tx) => {
    await tx.allSql('SELECT pg_advisory_xact_lock(7)', []);
    // They wait for the lock: one has a connection, the others wait for their turn.
    reads = ['a1', 'a2', 'a3', 'a4'].map((name) => long('attacker', name));
    reads.push(long('agent', 'b1'));
    assert.deepEqual(await read('agent', false, 'SELECT 1 AS answer'), [{ answer: 1 }]);
    assert.deepEqual(ended, []);
  });
  await Promise.all(reads);
  assert.deepEqual(ended, ['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('batched work of a transaction runs one piece after the other', async (t) => {
  const database = await openHub(t);
  let running = 0;
  const atOnce: number[] = [];
  let hasAskedLate = false;
  const work: BatchedWork<string, string> = {
    async run(reader, inputs) {
      atOnce.push(++running);
      // Until the second action has asked, and for some more turns.
      for (let turn = 0; turn < 10 || !hasAskedLate; turn++) await readNote(reader, 'none');
      running -= 1;
      return inputs.map((input) => `${input} done`);
    },
  };
  const outputs = await runConcurrently(database, ['early', 'late'], async (tx, name) => {
    // Batched work begins after the transaction.
    await readNote(tx, 'first');
    if (name === 'late') {
      await readNote(tx, 'another');
      hasAskedLate = true;
    }
    return tx.runBatched(work, name);
  });
  assert.deepEqual(outputs, ['early done', 'late done']);
  assert.deepEqual(atOnce, [1, 1]);
});

test('an action that is refused before it writes does not affect the concurrent ones', async (t) => {
  const database = await openHub(t);
  const ends = await Promise.allSettled(
    namesOf('n', 20).map((name, at) =>
      database.writeConcurrent({ workspaceId: 'home', keys: [name] }, async (tx) => {
        await readNote(tx, name);
        if (at === 3) throw new HubError('NOT_ALLOWED');
        await insertNote(tx, name);
        return name;
      }),
    ),
  );
  assert.deepEqual(
    ends.flatMap((end, at) => (end.status === 'rejected' ? [at] : [])),
    [3],
  );
  assert.equal((await listNotes(database)).length, 19);
});

test('an action that fails after it wrote leaves nothing, and the concurrent ones commit', async (t) => {
  const database = await openHub(t);
  let runs = 0;
  const ends = await Promise.allSettled(
    namesOf('n', 20).map((name, at) =>
      database.writeConcurrent({ workspaceId: 'home', keys: [name] }, async (tx) => {
        runs += 1;
        await insertNote(tx, name);
        if (at === 3) throw new HubError('NOT_ALLOWED');
        if (at === 4) throw new Error('a fault');
        return name;
      }),
    ),
  );
  const rejected = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
  assert.equal(rejected.length, 2);
  assert.match(rejected.join(), /a fault/);
  assert.equal((await listNotes(database)).length, 18);
  assert.ok(runs > 20, 'the others of its transaction were restarted');
});

test('a statement that PostgreSQL refuses fails only its own action, with its own error', async (t) => {
  const database = await openHub(t);
  const ends = await Promise.allSettled(
    namesOf('n', 5).map((name, at) =>
      database.writeConcurrent({ workspaceId: 'home', keys: [name] }, async (tx) => {
        await insertNote(tx, name);
        if (at === 2) await tx.runSql('SELECT * FROM no_such_table WHERE x = ?', [1]);
      }),
    ),
  );
  assert.deepEqual(
    ends.map((end) => end.status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.match(String((ends[2] as PromiseRejectedResult).reason), /no_such_table/);
  assert.equal((await listNotes(database)).length, 4);
});

test('when two actions add the same row, the second sees the row of the first', async (t) => {
  const { hubs } = await openHubs(t, 2);
  const add = (hub: Database) =>
    hub.writeConcurrent({ workspaceId: 'home', keys: [] }, async (tx) => {
      if ((await readNote(tx, 'same')) !== undefined) return 'found';
      await insertNote(tx, 'same');
      return 'added';
    });
  const answers = await Promise.all([...hubs, ...hubs, ...hubs].map(add));
  assert.deepEqual(answers.sort(), ['added', 'found', 'found', 'found', 'found', 'found']);
});

/** Reads a number, lets other actions run, and writes the number plus one. */
async function countUp(tx: Tx, note: string): Promise<void> {
  const before = await readNote(tx, note);
  await tx.firstSql('SELECT pg_sleep(0.001)::text AS slept', []);
  await tx.runSql('UPDATE notes SET amount = ? WHERE workspace_id = ? AND note = ?', [
    (before?.amount ?? 0) + 1,
    'home',
    note,
  ]);
}

test('actions of one workspace on several hubs lose none of each other’s writes', async (t) => {
  const { hubs } = await openHubs(t, 3);
  const [first] = hubs;
  assert(first !== undefined);
  await first.write('home', (tx) => insertNote(tx, 'count', 0));
  const counts = hubs.flatMap((hub) =>
    Array.from({ length: 20 }, (_, at) =>
      hub.write(at === 10 ? null : 'home', (tx) => countUp(tx, 'count')),
    ),
  );
  const exclusive = hubs.flatMap((hub) =>
    Array.from({ length: 5 }, () =>
      hub.writeConcurrent({ workspaceId: 'home', keys: [] }, async (tx) => {
        tx.requireExclusive();
        await countUp(tx, 'count');
      }),
    ),
  );
  await Promise.all([...counts, ...exclusive]);
  const row = await first.reader.firstSql<{ amount: number }>('SELECT amount FROM notes', []);
  assert.equal(row?.amount, 75);
});

test('a hub runs one action at a time of those that share a key', async (t) => {
  const database = await openHub(t);
  await database.write('home', (tx) => insertNote(tx, 'count', 0));
  await Promise.all(
    Array.from({ length: 30 }, () =>
      database.writeConcurrent({ workspaceId: 'home', keys: ['count'] }, (tx) =>
        countUp(tx, 'count'),
      ),
    ),
  );
  const row = await database.reader.firstSql<{ amount: number }>('SELECT amount FROM notes', []);
  assert.equal(row?.amount, 30);
});

test('an exclusive action blocks only its own workspace; one of the hub blocks all', async (t) => {
  const { hubs } = await openHubs(t, 2);
  const [first, second] = hubs;
  assert(first !== undefined && second !== undefined);
  const order: string[] = [];
  const holding = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const held = first.write('home', async (tx) => {
    await insertNote(tx, 'held');
    holding.resolve();
    await letGo.promise;
    order.push('home');
  });
  await holding.promise;
  await second.write('other', async () => void order.push('other'));
  await second.writeConcurrent(
    { workspaceId: 'other', keys: [] },
    async () => void order.push('other'),
  );
  const waiting = [
    second.write('home', async () => void order.push('home again')),
    second.writeConcurrent(
      { workspaceId: 'home', keys: [] },
      async () => void order.push('concurrent'),
    ),
    second.write(null, async () => void order.push('hub')),
  ];
  letGo.resolve();
  await Promise.all([held, ...waiting]);
  assert.deepEqual(order.slice(0, 3), ['other', 'other', 'home']);
  assert.equal(order.length, 6);
});

test('batched work runs once for all that ask for it and keeps their order', async (t) => {
  const database = await openHub(t);
  const sizes: number[] = [];
  const doubling = {
    async run(reader: Reader, inputs: readonly number[]) {
      sizes.push(inputs.length);
      await reader.firstSql('SELECT ?::text AS size', [String(inputs.length)]);
      return inputs.map((input) => input * 2);
    },
  };
  const numbers = Array.from({ length: 30 }, (_, at) => at);
  const outputs = await Promise.all(
    numbers.map((at) =>
      database.writeConcurrent({ workspaceId: 'home', keys: [] }, (tx) =>
        tx.runBatched(doubling, at),
      ),
    ),
  );
  assert.deepEqual(
    outputs,
    numbers.map((at) => at * 2),
  );
  assert.ok(sizes.length < 6, `${sizes.length} times`);
  const single = await database.write('home', (tx) => tx.runBatched(doubling, 21));
  assert.equal(single, 42);
});

test('calls after the commit are made once, in order, and not for actions that failed', async (t) => {
  const database = await openHub(t);
  const calls: number[] = [];
  await Promise.allSettled(
    namesOf('n', 6).map((name, at) =>
      database.writeConcurrent({ workspaceId: 'home', keys: [name] }, async (tx) => {
        await insertNote(tx, name);
        tx.afterCommit(() => calls.push(at));
        if (at === 2) throw new HubError('NOT_ALLOWED');
      }),
    ),
  );
  assert.deepEqual(calls, [0, 1, 3, 4, 5]);
});

test('the time of an action is that of the database', async (t) => {
  const database = await openHub(t);
  const [nowMs, row] = await database.write('home', async (tx) => [
    tx.nowMs,
    await tx.firstSql<{ at: number }>(
      'SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS at',
      [],
    ),
  ]);
  const laterMs = row?.at ?? 0;
  assert.ok(laterMs >= nowMs && laterMs - nowMs < 5_000);
});

test('an action whose connection breaks is refused as unavailable, and the next one gets another', async (t) => {
  const database = await openHub(t);
  const dying = database.write('home', async (tx) => {
    await insertNote(tx, 'lost');
    await tx.runSql('SELECT pg_terminate_backend(pg_backend_pid())', []);
  });
  await assert.rejects(dying, (error: unknown) => (error as HubError).code === 'UNAVAILABLE');
  await database.write('home', (tx) => insertNote(tx, 'kept'));
  assert.deepEqual(await listNotes(database), ['kept']);
});

test('closing waits for the actions that were handed in before', async (t) => {
  const { url } = await openHubs(t, 1);
  const database = openPostgres({ url, sessionsMax: 3, limits, isPooled: false });
  const names = namesOf('n', 10);
  const added = runConcurrently(database, names, (tx, name) => insertNote(tx, name));
  await database.close();
  assert.equal((await added).length, 10);
  await assert.rejects(
    database.write('home', async () => undefined),
    (error: unknown) => (error as HubError).code === 'UNAVAILABLE',
  );
});
