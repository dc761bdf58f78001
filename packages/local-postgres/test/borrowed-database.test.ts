import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import {
  borrowTestDatabase,
  dropIdleDatabases,
  serverVariable,
  startLocalPostgres,
} from '../src/index.ts';
import { ask } from './ask.ts';

// A separate server, so that databases left by an earlier run do not affect this one.
const server = await startLocalPostgres();
const outer = process.env[serverVariable];
process.env[serverVariable] = server.url;
after(async () => {
  await dropIdleDatabases();
  await server.stop();
  if (outer === undefined) delete process.env[serverVariable];
  else process.env[serverVariable] = outer;
});

const template = (fingerprint: string) => ({
  fingerprint,
  prepare: async (url: string) => {
    await ask(
      url,
      `CREATE TABLE notes (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note TEXT,
         keys TEXT[], of_note BIGINT REFERENCES notes);
       INSERT INTO notes (note, keys) VALUES ('it''s the first', '{a,b}');
       CREATE TABLE events (at BIGINT)`,
    );
  },
});

const initial = [{ id: '1', note: "it's the first", keys: ['a', 'b'], of_note: null }];
const readNotes = (url: string) => ask(url, 'SELECT * FROM notes ORDER BY id');

test('a database that was given back has the content of the template again', async () => {
  const first = await borrowTestDatabase(template('content'));
  await ask(
    first.url,
    `UPDATE notes SET note = 'changed'; INSERT INTO notes (note, of_note) VALUES ('second', 1);
     INSERT INTO events SELECT 7`,
  );
  await first.giveBack();
  const second = await borrowTestDatabase(template('content'));
  assert.equal(second.url, first.url, 'the same database');
  assert.deepEqual(await readNotes(second.url), initial);
  assert.deepEqual(await ask(second.url, 'SELECT * FROM events'), []);
  const numbered = "INSERT INTO notes (note) VALUES ('next') RETURNING id";
  assert.deepEqual(await ask(second.url, numbered), [{ id: '2' }], 'identities start again');
  await second.giveBack();
});

test('databases that are borrowed at once are different', async () => {
  const both = await Promise.all([
    borrowTestDatabase(template('two')),
    borrowTestDatabase(template('two')),
  ]);
  assert.notEqual(both[0].url, both[1].url);
  await Promise.all(both.map((database) => database.giveBack()));
});

const changes: [what: string, sql: string][] = [
  ['a new table', 'CREATE TABLE more (x INT)'],
  ['a table less', 'DROP TABLE events'],
  ['a new column', 'ALTER TABLE events ADD COLUMN why TEXT'],
  ['a new index', 'CREATE INDEX by_at ON events (at)'],
  ['a new constraint', 'ALTER TABLE events ADD CHECK (at > 0)'],
  ['planner statistics', "INSERT INTO notes (note) VALUES ('x'); ANALYZE notes"],
  ['thousands of rows', 'INSERT INTO events SELECT generate_series(1, 6000)'],
];
for (const [what, sql] of changes) {
  test(`a database with ${what} is dropped when it is given back`, async () => {
    const changed = await borrowTestDatabase(template('changed'));
    await ask(changed.url, sql);
    await changed.giveBack();
    await assert.rejects(readNotes(changed.url), { code: '3D000' });
    const next = await borrowTestDatabase(template('changed'));
    assert.deepEqual(await readNotes(next.url), initial);
    await next.giveBack();
  });
}

test('a database that a client still uses is dropped when it is given back', async () => {
  const used = await borrowTestDatabase(template('used'));
  const client = new pg.Client({ connectionString: used.url });
  const isCut = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  await client.query('BEGIN');
  await client.query("INSERT INTO notes (note) VALUES ('late')");
  await used.giveBack();
  await isCut;
  await assert.rejects(readNotes(used.url), { code: '3D000' });
});
