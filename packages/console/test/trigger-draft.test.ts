import type { Trigger, TriggerCondition } from '@signalbox/contract';
import { expect, test } from 'vitest';
import { causeWords, mismatchWords, readConditionValue } from '../src/format/trigger-words.ts';
import { conditionsOf, requestOf, valuesOf } from '../src/trigger/trigger-draft.ts';

const trigger: Trigger = {
  triggerId: 'trg_1',
  workspaceId: 'ws_1',
  name: 'Opened issues',
  type: 'event',
  enabled: true,
  match: { source: 'tracker', type: 'issue.opened', where: [] },
  cron: null,
  timeZone: null,
  repoId: 'repo_1',
  runRefTemplate: '{{event.id}}',
  titleTemplate: null,
  promptTemplate: 'Plan {{event.title}}',
  priority: 0,
  hourlyCap: 60,
  nextFireAt: null,
  lastFiredAt: null,
  createdAt: '2026-11-01T09:00:00.000Z',
  updatedAt: '2026-11-01T09:00:00.000Z',
};

test('a value of a condition is a number, true, false, null or text, and text in quotes', () => {
  expect(['7', '-1.5', 'true', 'null', '"7"', '007', 'api'].map(readConditionValue)).toEqual([
    ...[7, -1.5, true, null, '7', '007', 'api'],
  ]);
});

test('a trigger that is opened and saved does not change', () => {
  const where: TriggerCondition[] = [
    { path: 'data.number', op: 'eq', value: 7 },
    { path: 'data.version', op: 'ne', value: '7' },
    { path: 'data.note', op: 'eq', value: 'say "yes"' },
    { path: 'data.word', op: 'eq', value: '"quoted"' },
    { path: 'data.flag', op: 'eq', value: null },
    { path: 'title', op: 'matches', value: '42' },
    { path: 'actor', op: 'exists', value: false },
  ];
  const opened = { ...trigger, match: { ...trigger.match, where } };
  const { match } = requestOf(valuesOf(opened), conditionsOf(opened)) as { match: unknown };
  expect(match).toEqual(opened.match);
});

test('a schedule has times and no match, and each slot a run', () => {
  const values = { ...valuesOf(null), type: 'schedule', cron: '0 9 * * MON', timeZone: 'UTC' };
  const request = requestOf(values, []);
  expect(request).toMatchObject({ cron: '0 9 * * MON', runRefTemplate: '{{schedule.slotAt}}' });
  expect(request).not.toHaveProperty('match');
});

test('the words of a trigger say what starts it, and which condition failed', () => {
  expect(causeWords(trigger)).toBe('on issue.opened from tracker');
  expect(causeWords({ ...trigger, match: { where: [] } })).toBe('every event');
  expect(mismatchWords('where/1')).toBe('condition 2 does not match');
});
