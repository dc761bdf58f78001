import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listMutants, plant, sampleMutants } from '../mutants.ts';

const mutantsOf = (source: string) => listMutants('a.ts', source);
const faultsOf = (source: string) =>
  mutantsOf(source).map(({ operator, original, replacement }) => [operator, original, replacement]);

test('conditions, operators and negations are faults', () => {
  assert.deepEqual(faultsOf('if (a < b && !c) d = 1;'), [
    ['condition', 'a < b && !c', 'true'],
    ['condition', 'a < b && !c', 'false'],
    ['operator', '<', '<='],
    ['operator', '&&', '||'],
    ['negation', '!c', 'c'],
  ]);
});

test('removed effects are faults, assertions of impossible states are not', () => {
  assert.deepEqual(faultsOf('async () => { await save(x); assert(y === z); };'), [
    ['effect', 'await save(x);', 'void 0;'],
  ]);
});

test('properties, words, booleans and defaults are faults, messages and keys are not', () => {
  assert.deepEqual(
    faultsOf("const a = { 'some-key': 'done', b: true, c: d ?? 1, e: 'A message.' };"),
    [
      ['property', "'some-key': 'done'", '...{}'],
      ['word', "'done'", "'mutant'"],
      ['property', 'b: true', '...{}'],
      ['boolean', 'true', 'false'],
      ['property', 'c: d ?? 1', '...{}'],
      ['default', 'd ?? 1', 'd'],
      ['property', "e: 'A message.'", '...{}'],
    ],
  );
});

test('statements have faults in their text, except for the workspace', () => {
  const source = [
    'tx.run(`UPDATE jobs SET n = n + 1',
    "  WHERE workspace_id = ? AND status = 'done' AND at <= ? AND e IS NULL",
    '  ORDER BY at DESC LIMIT 1`);',
  ].join('\n');
  assert.deepEqual(
    new Set(faultsOf(source)),
    new Set([
      ['SQL arithmetic', '+', '-'],
      ['SQL boundary', '<=', '<'],
      ['SQL condition', 'at <= ?', '(1 = 1 OR at <= ?)'],
      ['SQL condition', "status = 'done'", "(1 = 1 OR status = 'done')"],
      ['SQL direction', 'DESC', 'ASC'],
      ['SQL null', 'IS NULL', 'IS NOT NULL'],
      ['SQL order', 'ORDER BY at DESC', ''],
      ['SQL word', "'done'", "'mutant'"],
      ['effect', source, 'void 0;'],
    ]),
  );
});

test('types and imports have no faults, values inside casts do', () => {
  const source = [
    "import { a } from 'some-module';",
    "type B = 'one' | 'two';",
    "export const c = (d === 'one') as B;",
  ].join('\n');
  assert.deepEqual(
    faultsOf(source).map(([, original]) => original),
    ['===', "'one'"],
  );
});

test('a planted fault is the only change', () => {
  const source = 'const a = b < c;';
  const [mutant] = mutantsOf(source);
  assert.ok(mutant);
  assert.equal(plant(source, mutant), 'const a = b <= c;');
  assert.throws(() => plant(` ${source}`, mutant), /another source/);
});

test('a mutant keeps its id when other lines change, and equal ones are told apart', () => {
  const ids = mutantsOf('a < b;\na < b;').map(({ id }) => id);
  assert.equal(new Set(ids).size, 2);
  assert.deepEqual(
    mutantsOf('f;\n\n  a < b;\n  a < b;').map(({ id }) => id),
    ids,
  );
});

test('a sample is the same for the same seed and holds every operator', () => {
  const all = mutantsOf(`${'a < b;\n'.repeat(50)}f();`);
  const sample = sampleMutants(all, 4, 'seed');
  assert.deepEqual(sampleMutants(all.toReversed(), 4, 'seed'), sample);
  assert.deepEqual(sampleMutants(all, 2, 'seed'), sample.slice(0, 2));
  assert.notDeepEqual(sampleMutants(all, 4, 'other'), sample);
  assert.deepEqual(
    new Set(sample.map(({ operator }) => operator)),
    new Set(['operator', 'effect']),
  );
});
