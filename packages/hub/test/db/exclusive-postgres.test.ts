import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTestDatabase } from '@signalbox/local-postgres';
import { actFor } from '../../src/db/acting-caller.ts';
import type { Tx } from '../../src/db/engine.ts';
import { openPostgres } from '../../src/db/postgres/postgres-database.ts';

/* How long exclusive transactions are, and who is next. */

const limits = { connectMs: 3_000, statementMs: 5_000, lockMs: 4_000, idleInTransactionMs: 5_000 };

const template = {
  fingerprint: 'postgres-exclusive notes 1',
  async prepare(url: string) {
    const database = openPostgres({ url, sessionsMax: 3, limits, isPooled: false });
    await database.write(null, (tx) => tx.runSql('CREATE TABLE notes (note TEXT NOT NULL)', []));
    await database.close();
  },
};

/** A hub whose actions take as long as they say. */
async function openHub(t: TestContext) {
  const { url, drop } = await createTestDatabase(template);
  let nowMs = 0;
  const hub = openPostgres({
    url,
    sessionsMax: 3,
    limits,
    isPooled: false,
    elapsedMs: () => nowMs,
  });
  t.after(async () => {
    await hub.close();
    await drop();
  });
  const order: { name: string; transaction: string }[] = [];
  const write = (caller: string, name: string, tookMs: number, more?: (tx: Tx) => Promise<void>) =>
    actFor({ key: caller, workspaceId: null, guard: null, isLongRead: false }, () =>
      hub.write('home', async (tx) => {
        const row = await tx.firstSql<{ id: string }>('SELECT txid_current()::text AS id', []);
        await tx.runSql('INSERT INTO notes (note) VALUES (?)', [name]);
        order.push({ name, transaction: row?.id ?? '' });
        nowMs += tookMs;
        await more?.(tx);
      }),
    );
  const listNotes = async () => {
    const rows = await hub.reader.allSql<{ note: string }>('SELECT note FROM notes', []);
    return rows.map(({ note }) => note).toSorted();
  };
  return { hub, order, write, listNotes };
}

test('a transaction takes actions for 20 ms; the others wait for a later one', async (t) => {
  const { order, write } = await openHub(t);
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => write('ada', name, 12)));
  const transactions = [...Map.groupBy(order, ({ transaction }) => transaction).values()];
  const names = transactions.map((actions) => actions.map(({ name }) => name));
  assert.deepEqual(names, [['a', 'b'], ['c', 'd'], ['e']]);
});

test('callers of a scope have turns', async (t) => {
  const { order, write } = await openHub(t);
  const names = ['a1', 'a2', 'a3', 'a4', 'b1'];
  await Promise.all(names.map((name) => write(name.slice(0, 1), name, 1)));
  assert.deepEqual(order.map(({ name }) => name).slice(0, 3), ['a1', 'b1', 'a2']);
});

test('an action that fails leaves nothing, and those before and after it are kept', async (t) => {
  for (const failing of [0, 1, 2, 3]) {
    const { write, listNotes } = await openHub(t);
    const refused = () => Promise.reject(new Error('no'));
    const impossible = async (tx: Tx) => void (await tx.runSql('SELECT 1 / 0', []));
    for (const fail of [refused, impossible]) {
      const names = ['a', 'b', 'c', 'd'].map((name) => `${name} ${fail.name}`);
      const ends = await Promise.allSettled(
        names.map((name, at) => write('ada', name, 0, at === failing ? fail : undefined)),
      );
      const statuses = names.map((_, at) => (at === failing ? 'rejected' : 'fulfilled'));
      assert.deepEqual(
        ends.map(({ status }) => status),
        statuses,
      );
      const notes = await listNotes();
      assert.deepEqual(
        names.map((name) => notes.includes(name)),
        names.map((_, at) => at !== failing),
      );
    }
  }
});
