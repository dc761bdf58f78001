import type { Activity, ActivityItem, ToolCall } from '@signalbox/contract';
import { expect, test } from 'vitest';
import { contextWords, progressOfPlan, stateOfCall, viewActivity } from '../src/format/activity.ts';
import { CallText } from '../src/job/call-text.tsx';
import { PlanBar } from '../src/job/plan-bar.tsx';
import { render } from './rendering.ts';

const at = '2026-11-02T09:00:04.000Z';
const call: ToolCall = { id: 'c1', kind: 'execute', title: 'npm test', status: 'running' };
const plan = (done: boolean): Activity => ({
  plan: {
    entries: [
      { text: 'Look', status: done ? 'completed' : 'in_progress' },
      { text: 'Mend <b>it</b>', status: 'pending' },
    ],
  },
});

function itemsOf(...activities: [line: number, activity: Activity][]): ActivityItem[] {
  return activities.map(([line, activity], index) => ({ seq: index + 1, line, at, activity }));
}

test('the end of a call is shown where it began, and the latest plan and usage count', () => {
  const ended: ToolCall = { ...call, status: 'done', durationMs: 4_100 };
  const view = viewActivity(
    itemsOf(
      [1, { session: { sessionId: 's1' } }],
      [2, { toolCall: call }],
      [3, { toolCall: { ...call, id: 'c2' } }],
      [4, plan(false)],
      [8, { usage: { costUsd: 1 } }],
      [8, { toolCall: ended }],
      [9, plan(true)],
      [9, { usage: { costUsd: 2 } }],
    ),
  );
  expect([...view.calls.keys()]).toEqual([2, 3]);
  expect(view.calls.get(2)).toEqual({ call: ended, startedAt: at });
  expect(view.calls.get(3)?.call.status).toBe('running');
  expect(view.plan?.entries[0]?.status).toBe('completed');
  expect(view.usage).toEqual({ costUsd: 2 });
  expect(view.session?.sessionId).toBe('s1');
});

test('the state of a call is in words, and what never ended does not run', () => {
  const said = (fields: Partial<ToolCall>, isEnded = false) => {
    const { word, details } = stateOfCall({ ...call, ...fields }, isEnded);
    return [word, details];
  };
  expect(said({})).toEqual(['running', '']);
  expect(said({}, true)).toEqual(['not finished', '']);
  expect(said({ status: 'failed', exitCode: 1, durationMs: 12_000 })).toEqual([
    'exit code 1',
    '12 s',
  ]);
  expect(said({ status: 'failed' })).toEqual(['failed', '']);
  const changes = [{ path: 'a.ts', added: 1_200, removed: 0 }, { path: 'b.ts' }];
  expect(said({ status: 'done', changes, durationMs: 30 })).toEqual(['done', '+1,200 −0 · 30 ms']);
  expect(said({ status: 'done', changes: [{ path: 'b.ts' }] })).toEqual(['done', '']);
});

test('a call says its kind, title and state, and its title is no markup', async () => {
  const props = { startedAt: at, isEnded: true, isNested: false, words: 'npm' };
  const title = 'npm test <img src=x onerror=alert(1)>';
  const { box } = await render(
    <CallText call={{ ...call, title, status: 'failed', exitCode: 7 }} {...props} />,
  );
  expect(box.textContent).toBe(`Command: ${title}exit code 7`);
  expect(box.querySelector('img')).toBeNull();
  expect(box.querySelector('mark')?.textContent).toBe('npm');
});

test('the plan is one line that opens to a checklist, with words for each state', async () => {
  const { plan: shown } = plan(true);
  expect(progressOfPlan(shown ?? { entries: [] })).toEqual({ done: 1, now: 'Mend <b>it</b>' });
  const { box } = await render(<PlanBar plan={shown ?? { entries: [] }} />);
  expect(box.querySelector('summary')?.textContent).toBe('Plan1 of 2 doneMend <b>it</b>');
  const steps = [...box.querySelectorAll('li')].map(({ textContent }) => textContent);
  expect(steps).toEqual(['Done: Look', 'To do: Mend <b>it</b>']);
});

test('the context is a share of its size', () => {
  expect(contextWords({ contextTokens: 90_000, contextTokensMax: 200_000 })).toBe(
    '45 % of 200,000 tokens',
  );
  expect(contextWords({ contextTokens: 5 })).toBe('');
});
