import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase, serverVariable, startLocalPostgres } from '../src/index.ts';
import { ask } from './ask.ts';

// A separate server, so that databases left by an earlier run do not affect this one.
const server = await startLocalPostgres();
const outer = process.env[serverVariable];
process.env[serverVariable] = server.url;
after(async () => {
  await server.stop();
  if (outer === undefined) delete process.env[serverVariable];
  else process.env[serverVariable] = outer;
});

const notes = (fingerprint: string) => {
  const template = {
    fingerprint,
    preparations: 0,
    async prepare(url: string) {
      template.preparations += 1;
      await ask(url, `CREATE TABLE notes AS SELECT '${fingerprint}' AS note`);
    },
  };
  return template;
};

test('databases of one template are prepared once and share nothing', async () => {
  const template = notes('first');
  const [one, two] = await Promise.all([
    createTestDatabase(template),
    createTestDatabase(template),
  ]);
  assert.equal(template.preparations, 1);
  assert.equal(new URL(one.url).port, new URL(server.url).port, 'on the server of the variable');
  await ask(one.url, "UPDATE notes SET note = 'changed'");
  assert.deepEqual(await ask(two.url, 'SELECT note FROM notes'), [{ note: 'first' }]);
  await Promise.all([one.drop(), two.drop()]);
  await assert.rejects(ask(one.url, 'SELECT 1'), { code: '3D000' });
});

test('each fingerprint has its own template', async (t) => {
  const databases = await Promise.all([
    createTestDatabase(notes('old')),
    createTestDatabase(notes('new')),
  ]);
  t.after(() => Promise.all(databases.map((database) => database.drop())));
  const found = await Promise.all(databases.map(({ url }) => ask(url, 'SELECT note FROM notes')));
  assert.deepEqual(found, [[{ note: 'old' }], [{ note: 'new' }]]);
});

test('a template whose preparation failed is prepared again by the next call', async (t) => {
  const template = notes('shaky');
  const broken = { ...template, prepare: () => Promise.reject(new Error('half-way')) };
  await assert.rejects(createTestDatabase(broken), /half-way/);
  const database = await createTestDatabase(template);
  t.after(() => database.drop());
  assert.deepEqual(await ask(database.url, 'SELECT note FROM notes'), [{ note: 'shaky' }]);
});
