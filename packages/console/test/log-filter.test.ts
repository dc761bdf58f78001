import type { ActivityItem, ToolCall } from '@signalbox/contract';
import { expect, test } from 'vitest';
import { viewActivity } from '../src/format/activity.ts';
import {
  callLines,
  emptyTextOf,
  isProblem,
  problemLines,
  withFound,
} from '../src/format/log-filter.ts';

const at = '2026-11-02T09:00:04.000Z';

function itemsOf(...activities: [line: number, activity: ActivityItem['activity']][]) {
  return activities.map(([line, activity], index) => ({ seq: index + 1, line, at, activity }));
}

function call(id: string, status: ToolCall['status']): ActivityItem['activity'] {
  return { toolCall: { id, kind: 'execute', title: 'npm test', status } };
}

test('a message goes up to the next activity, and the last one to the end of the log', () => {
  const { messages } = viewActivity(
    itemsOf(
      [1, { isMessage: true }],
      [4, call('c1', 'running')],
      [9, { isMessage: true }],
      [9, { isMessage: true }],
    ),
  );
  expect(messages).toEqual([
    { first: 1, last: 3 },
    { first: 9, last: 9 },
    { first: 9, last: Number.POSITIVE_INFINITY },
  ]);
});

test('lines that read like an error or a warning are problems, counts of none are not', () => {
  for (const text of [
    'TypeError: x is not a function',
    'npm warn deprecated',
    'FAIL src/a.test.ts',
    '2 errors, 0 warnings',
    'fatal: not a git repository',
    '3 tests failed',
  ]) {
    expect(isProblem(text), text).toBe(true);
  }
  for (const text of ['0 errors, 0 warnings', 'no errors', 'failover ready', 'forewarned', 'ok']) {
    expect(isProblem(text), text).toBe(false);
  }
});

test('problems are failed calls and lines, each once, in the order of the log', () => {
  const activity = viewActivity(
    itemsOf([2, call('ok', 'done')], [5, call('bad', 'running')], [7, call('bad', 'failed')]),
  );
  const lines = problemLines(activity, [
    { line: 6, text: '  Error: expected 503' },
    { line: 5, text: '→ npm run fail' },
    { line: 7, text: '  ✖ failed with exit code 1' },
    { line: 6, text: '  Error: expected 503' },
    { line: 3, text: 'warning: deprecated' },
    { line: 4, text: '0 errors' },
  ]);
  expect(lines.map(({ first }) => first)).toEqual([3, 5, 6]);
  expect(lines[1]?.shown?.call.status).toBe('failed');
  expect(callLines(activity).map(({ first }) => first)).toEqual([2, 5]);
});

test('a search keeps the lines, of one or several, in which it has found its text', () => {
  const lines = [
    { first: 1, last: 3 },
    { first: 5, last: 5 },
    { first: 8, last: Number.POSITIVE_INFINITY },
  ];
  const kept = (...found: number[]) => withFound(lines, found).map(({ first }) => first);
  expect(kept(3, 4, 9)).toEqual([1, 8]);
  expect(kept(5)).toEqual([5]);
  expect(kept()).toEqual([]);
});

test('an empty filter says why', () => {
  const none = { total: 0, isBusy: false };
  expect(emptyTextOf('calls', none, '')).toBe('The tool has reported no calls.');
  expect(emptyTextOf('problems', { ...none, isBusy: true }, '')).toBe('Searching …');
  expect(emptyTextOf('calls', { ...none, total: 3 }, 'npm')).toBe(
    'None of these lines contains “npm”.',
  );
});
