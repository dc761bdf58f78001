import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Job, ListedJob, ListedUncertainty, ToolCall, Uncertainty } from '@signalbox/contract';
import { orderJobs } from '../src/commands/watch/watch-feed.ts';
import { renderScreen } from '../src/commands/watch/watch-screen.ts';
import {
  firstState,
  type Key,
  openQuestion,
  pressKey,
  type WatchState,
} from '../src/commands/watch/watch-state.ts';
import { stylesOf } from '../src/terminal/io.ts';
import { textWidth } from '../src/terminal/text.ts';
import { choicesOf } from '../src/words/question-text.ts';

const at = '2026-11-02T09:00:00.000Z';
const nowMs = Date.parse('2026-11-02T09:05:00.000Z');

// Only the fields that the view reads.
const job = (index: number, status: ListedJob['status'], title: string) =>
  ({ jobId: `job_0000000000000000000job${index}`, status, title, createdAt: at }) as ListedJob;
const listed = (index: number, title: string) =>
  ({
    uncertaintyId: `unc_00000000000000000quest${index}`,
    kind: 'approval',
    title,
    createdAt: at,
    deadlineAt: null,
  }) as unknown as ListedUncertainty;
const asked = {
  uncertaintyId: 'unc_00000000000000000quest1',
  kind: 'approval',
  context: '',
  prompt: 'May the tool run this?\nmake deploy',
  recommendedValue: null,
  assumedValue: '',
  options: [
    { value: 'yes', label: 'Yes' },
    { value: 'no', label: 'No' },
  ],
} as unknown as Uncertainty;

const data = {
  jobs: [
    job(1, 'running', 'Add a health check \u001b[31mto\u001b[0m the API'),
    job(2, 'pending', '健康診断を追加する '.repeat(20)),
    ...Array.from({ length: 40 }, (_, index) => job(index + 10, 'done', `Job ${index}`)),
  ],
  questions: [listed(1, 'Run make deploy?'), listed(2, 'Which database?'), listed(3, 'Why?')],
  calls: new Map<string, ToolCall>([
    [
      'job_0000000000000000000job1',
      {
        id: 'c1',
        kind: 'execute',
        status: 'failed',
        exitCode: 1,
        durationMs: 4_000,
        title: `npm test -- \u001b[31m${'健康'.repeat(80)}`,
      },
    ],
    ['job_0000000000000000000job2', { id: 'c2', kind: 'read', status: 'done', title: 'Read it' }],
  ]),
  endedCalls: [],
  counts: { pending: 1_000, running: 1, done: 40, failed: 0, blocked: 0, canceled: 0 },
  capped: ['pending' as const],
};

const key = (name: string, more: Partial<Key> = {}): Key => ({
  name,
  text: '',
  isCtrl: false,
  ...more,
});
const char = (text: string) => key(text, { text });

function press(from: WatchState, ...keys: Key[]) {
  let state = from;
  let effect: ReturnType<typeof pressKey>['effect'] = null;
  for (const each of keys) ({ state, effect } = pressKey(state, data, each));
  return { state, effect };
}

const opened: WatchState = { ...firstState, open: openQuestion(asked, choicesOf(asked)) };

test('running and failed jobs stand above many that wait, though the last jobs contain them too', () => {
  const running = [job(1, 'running', 'Runs')];
  const failed = [1, 2, 3, 4].map((index) => job(20 + index, 'failed', 'Has failed'));
  const blocked = Array.from({ length: 80 }, (_, index) => job(100 + index, 'blocked', 'Waits'));
  const latest = [...blocked.slice(0, 50), ...running, ...failed];
  const ordered = orderJobs({ running, failed, blocked, latest });
  assert.deepEqual(ordered.map(({ status }) => status).slice(0, 5), [
    'running',
    'failed',
    'failed',
    'failed',
    'blocked',
  ]);
  assert.deepEqual(new Set(ordered), new Set([...running, ...failed, ...blocked]));
  assert.equal(ordered.length, 85);
});

test('each line is shorter than the screen, at every size, in every state', () => {
  const long = { ...asked, prompt: `${'word '.repeat(500)}\n${'健'.repeat(300)}` };
  const typed = { ...openQuestion(long, choicesOf(long)), typed: 'an answer '.repeat(30) };
  const states: WatchState[] = [
    { ...firstState, message: 'A message '.repeat(40) },
    opened,
    { ...firstState, open: openQuestion(long, choicesOf(long)) },
    { ...firstState, open: typed },
  ];
  for (const columns of [40, 60, 80, 200]) {
    for (const rows of [5, 24, 60]) {
      for (const state of states) {
        const frame = { columns, rows, styles: stylesOf(true), nowMs, workspace: 'acme' };
        const lines = renderScreen(data, state, frame);
        assert.ok(lines.length <= rows);
        for (const line of lines) {
          const plain = stripVTControlCharacters(line);
          assert.ok(textWidth(plain) < columns, `${columns}: ${plain}`);
        }
      }
    }
  }
});

const screenOf = (state: WatchState, rows = 24) =>
  renderScreen(data, state, {
    columns: 80,
    rows,
    styles: stylesOf(false),
    nowMs,
    workspace: 'acme',
  });

test('the list shows questions, then jobs, with counts above and keys below', () => {
  const lines = screenOf(firstState);
  assert.equal(lines[0], 'acme  1 running · 1,000+ waiting · 0 blocked · 0 failed · 3 questions');
  assert.match(lines[3] ?? '', /^▸ 00quest1 {2}approval: Run make deploy\? +5m$/);
  const text = lines.join('\n');
  assert.ok(text.indexOf('Why?') < text.indexOf('JOBS'));
  assert.match(text, /◐ running {5}.* Add a health check to the API +5m/);
  assert.match(lines.at(-1) ?? '', /q ends/);
});

test('below a running job is what its tool does, with its state; below others is nothing', () => {
  const lines = screenOf(firstState);
  const at = lines.findIndex((line) => line.includes('◐ running'));
  assert.match(lines[at + 1] ?? '', /^ {16}→ npm test -- 健.*…? {2}✖ exit code 1, 4s$/);
  assert.ok(!lines.join('\n').includes('Read it'));
});

test('arrows choose a question, and Enter opens it', () => {
  const down = press(firstState, key('down'), char('j'));
  assert.equal(down.state.selectedId, data.questions[2]?.uncertaintyId);
  const { effect } = press(down.state, key('up'), key('return'));
  assert.deepEqual(effect, { do: 'open', uncertaintyId: data.questions[1]?.uncertaintyId });
});

test('a question that was answered elsewhere moves the choice to one that is open', () => {
  const { state } = press(firstState, key('down'));
  const rest = { ...data, questions: data.questions.slice(2) };
  const { effect } = pressKey(state, rest, key('return'));
  assert.deepEqual(effect, { do: 'open', uncertaintyId: rest.questions[0]?.uncertaintyId });
});

test('without a recommendation Enter alone answers nothing; a digit and Enter answer', () => {
  assert.equal(press(opened, key('return')).effect, null);
  const { uncertaintyId } = asked;
  const { effect } = press(opened, char('2'), key('return'));
  assert.deepEqual(effect, { do: 'answer', uncertaintyId, mode: 'answered', value: 'no' });
  const dismissed = press(opened, char('4'), key('return')).effect;
  assert.deepEqual(dismissed, { do: 'answer', uncertaintyId, mode: 'dismissed', value: '' });
  assert.equal(press(opened, char('9'), key('return')).effect, null);
});

test('own words are typed, also with letters that are keys elsewhere', () => {
  const words = ['q', 'j', '1', 'x'].map(char);
  const open = press(opened, char('3'), key('return')).state;
  assert.equal(press(open, key('return')).effect, null);
  const typed = press(open, ...words, key('backspace'), key('space', { text: ' ' }), char('é'));
  assert.match(screenOf(typed.state).join('\n'), /Your answer: qj1 é▏/);
  const { effect } = press(typed.state, key('return'));
  assert.equal(effect?.do === 'answer' && effect.value, 'qj1 é');
  assert.equal(press(typed.state, key('escape')).state.open?.typed, null);
});

test('Escape goes back to the list; q and Ctrl-C end the view', () => {
  assert.equal(press(opened, key('escape')).state.open, null);
  assert.deepEqual(press(firstState, char('q')).effect, { do: 'quit' });
  for (const state of [firstState, opened]) {
    assert.deepEqual(press(state, key('c', { isCtrl: true })).effect, { do: 'quit' });
  }
});

test('a long question can be scrolled to its end, and the answers stay in view', () => {
  const long = { ...asked, prompt: Array.from({ length: 60 }, (_, n) => `line ${n}`).join('\n') };
  let state: WatchState = { ...firstState, open: openQuestion(long, choicesOf(long)) };
  assert.match(screenOf(state).join('\n'), /line 0\n.*… \d+ more lines/s);
  for (let n = 0; n < 20; n++) ({ state } = press(state, key('space', { text: ' ' })));
  const end = screenOf(state).join('\n');
  assert.match(end, /line 59\n/);
  assert.match(end, /1 {2}Yes/);
});

test('a job is chosen by keys, also below many questions, and read', () => {
  const many = Array.from({ length: 76 }, (_, index) => listed(index + 10, `Question ${index}?`));
  const failed = { ...job(3, 'failed', 'Move the port'), failure: 'Error: connect ECONNREFUSED' };
  const crowded = {
    ...data,
    questions: many,
    jobs: [data.jobs[0] as ListedJob, failed, ...data.jobs.slice(1)],
  };
  const draw = (state: WatchState, rows = 24) =>
    renderScreen(crowded, state, {
      columns: 80,
      rows,
      styles: stylesOf(false),
      nowMs,
      workspace: 'acme',
    }).join('\n');
  const text = draw(firstState);
  assert.match(text, /◐ running/);
  assert.match(text, /✖ failed .* Move the port .*\n +Error: connect ECONNREFUSED/);
  const go = (state: WatchState, ...keys: Key[]) =>
    keys.reduce((now, each) => pressKey(now, crowded, each).state, state);
  const onJob = go(firstState, key('tab'), key('down'));
  assert.match(draw(onJob), /▸ ✖ failed/);
  assert.deepEqual(pressKey(onJob, crowded, key('return')).effect, {
    do: 'open-job',
    jobId: failed.jobId,
  });
  const far = go(onJob, ...Array.from({ length: 30 }, () => key('down')));
  assert.match(draw(far), /▸ ✔ done .* Job 28/);
  assert.match(draw(go(far, key('tab'))), /▸ 0quest10 /);
  const whole = {
    ...failed,
    prompt: 'Move the port\nto 8080.',
    message: 'It broke.',
    decisions: [],
  };
  const open: WatchState = { ...onJob, job: { job: whole as unknown as Job, scrolled: 0 } };
  assert.match(draw(open), /✖ failed .*\n {2}Move the port\n {2}to 8080\.\n\n {2}It broke\./);
  assert.equal(pressKey(open, crowded, key('escape')).state.job, null);
});
