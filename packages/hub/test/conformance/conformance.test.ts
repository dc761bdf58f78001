import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sections } from './row.ts';
import { conformanceRows } from './rows.ts';
import { startSpecHub } from './spec-client.ts';

test('the hub does what the specification says', async (t) => {
  const addClient = await startSpecHub(t);
  for (const { id, statement, check } of conformanceRows) {
    await t.test(`${id}: ${statement}`, async () => check(await addClient(`spec-${id}`)));
  }
});

test('rows have unique ids and follow the order of the specification', () => {
  const ids = conformanceRows.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[a-z]+(-[a-z]+)*-\d+$/);
  const places = conformanceRows.map(({ section }) => sections.indexOf(section));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});
