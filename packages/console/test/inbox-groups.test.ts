import { expect, test } from 'vitest';
import { groupQuestions } from '../src/format/inbox-groups.ts';

/** Questions as `repository run`, in their order. */
const rowsOf = (...places: string[]) =>
  places.map((place, at) => {
    const [repoId = '', runId = ''] = place.split(' ');
    return { repoId, runId, at };
  });
const shown = (...places: string[]) =>
  groupQuestions(rowsOf(...places))?.map(
    ({ by, id, rows }) => `${by} ${id}: ${rows.map(({ at }) => at).join(' ')}`,
  ) ?? null;

test('a long list is grouped by repository; the first question leads its group and all groups', () => {
  expect(shown('b x', 'a y', 'b x', 'a y', 'a z', 'b x', 'b x', 'a y')).toEqual([
    'repository b: 0 2 5 6',
    'repository a: 1 3 4 7',
  ]);
});

test('a long list of one repository is grouped by run', () => {
  expect(shown('a x', 'a y', 'a x', 'a y', 'a y', 'a x', 'a x', 'a y')).toEqual([
    'run x: 0 2 5 6',
    'run y: 1 3 4 7',
  ]);
});

test.each([
  ['short', ['a x', 'b x', 'a x', 'b x']],
  ['of one run', Array.from({ length: 9 }, () => 'a x')],
  ['in which nearly each question has its own run', 'stuvwxyz'.split('').map((run) => `a ${run}`)],
] as const)('a list that is %s has no groups', (_, places) => {
  expect(shown(...places)).toBeNull();
});

test('questions of a deleted repository are a group', () => {
  const rows = rowsOf(...Array.from({ length: 8 }, () => 'a x')).map((row, at) =>
    at % 2 === 0 ? row : { ...row, repoId: null },
  );
  expect(groupQuestions(rows)?.map(({ id }) => id)).toEqual(['a', '']);
});
