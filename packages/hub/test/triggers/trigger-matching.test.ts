import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TriggerCondition, TriggerMatch } from '@signalbox/contract';
import {
  checkMatch,
  type EventView,
  findMismatch,
  MATCHED_CHARS_MAX,
  MatchBudget,
  NO_WORK_LEFT,
} from '../../src/triggers/match-event.ts';
import { checkTemplate, renderPrompt, renderTemplate } from '../../src/triggers/template.ts';
import { parsePath, readPath } from '../../src/triggers/value-path.ts';

const view: EventView = {
  id: 'ing_1',
  channel: 'ingest',
  source: 'tracker',
  type: 'issue.opened',
  title: 'Health check',
  content: 'GET /health would do.',
  actor: null,
  threadRef: null,
  sourceRef: null,
  occurredAt: '2026-11-02T09:00:00.000Z',
  contextItemId: 'ctx_1',
  data: {
    labels: ['api', 'urgent', 7],
    number: 4711,
    draft: false,
    parent: null,
    nested: { 'a.b': 'dotted' },
    long: `${'a'.repeat(MATCHED_CHARS_MAX)}end`,
  },
  extensions: { priority: 'high' },
};

const conditions: [condition: TriggerCondition, fits: boolean][] = [
  [{ path: 'title', op: 'eq', value: 'Health check' }, true],
  [{ path: 'title', op: 'eq', value: 'health check' }, false],
  [{ path: 'data.number', op: 'eq', value: 4711 }, true],
  [{ path: 'data.number', op: 'eq', value: '4711' }, false],
  [{ path: 'data.draft', op: 'eq', value: false }, true],
  [{ path: 'data.parent', op: 'eq', value: null }, true],
  [{ path: 'data.missing', op: 'eq', value: null }, false],
  [{ path: 'data.labels', op: 'eq', value: 'api' }, false],
  [{ path: 'data.labels.0', op: 'eq', value: 'api' }, true],
  [{ path: 'data.labels.9', op: 'eq', value: 'api' }, false],
  [{ path: 'data.labels.-1', op: 'exists' }, false],
  [{ path: 'data.labels.length', op: 'exists' }, false],
  [{ path: 'data.number', op: 'ne', value: 1 }, true],
  [{ path: 'data.number', op: 'ne', value: 4711 }, false],
  [{ path: 'data.missing', op: 'ne', value: 1 }, true],
  [{ path: 'data.labels', op: 'contains', value: 'urgent' }, true],
  [{ path: 'data.labels', op: 'contains', value: 7 }, true],
  [{ path: 'data.labels', op: 'contains', value: 'urg' }, false],
  [{ path: 'content', op: 'contains', value: '/health' }, true],
  [{ path: 'data.number', op: 'contains', value: '47' }, false],
  [{ path: 'data.missing', op: 'contains', value: 'x' }, false],
  [{ path: 'title', op: 'matches', value: '^Health' }, true],
  [{ path: 'title', op: 'matches', value: '(?i)^HEALTH CHECK$' }, true],
  [{ path: 'data.number', op: 'matches', value: '^47\\d{2}$' }, true],
  [{ path: 'data.labels', op: 'matches', value: 'api' }, false],
  [{ path: 'data.missing', op: 'matches', value: '' }, false],
  [{ path: 'data.long', op: 'matches', value: 'end$' }, false],
  [{ path: 'data.parent', op: 'exists' }, false],
  [{ path: 'data.draft', op: 'exists' }, true],
  [{ path: 'data.missing', op: 'exists', value: false }, true],
  [{ path: 'data.number', op: 'exists', value: false }, false],
  [{ path: 'extensions.priority', op: 'eq', value: 'high' }, true],
  [{ path: '/data/nested/a.b', op: 'eq', value: 'dotted' }, true],
  [{ path: 'data.nested.a.b', op: 'exists' }, false],
  [{ path: 'data.constructor', op: 'exists' }, false],
  [{ path: 'data.__proto__.toString', op: 'exists' }, false],
  [{ path: 'title.length', op: 'exists' }, false],
];
for (const [condition, fits] of conditions) {
  const { path, op, value } = condition;
  test(`${path} ${op} ${JSON.stringify(value) ?? ''} is ${fits}`, () => {
    checkMatch({ where: [condition] });
    assert.equal(
      findMismatch({ where: [condition] }, view, new MatchBudget()),
      fits ? null : 'where/0',
    );
  });
}

test('a match names the first part that does not fit', () => {
  const where = [
    { path: 'data.number', op: 'eq', value: 4711 },
    { path: 'data.draft', op: 'eq', value: true },
  ] as const;
  const matches: [match: TriggerMatch, failed: string | null][] = [
    [{}, null],
    [{ source: 'tracker', type: 'issue.opened' }, null],
    [{ source: 'Tracker' }, 'source'],
    [{ source: 'tracker', type: 'issue' }, 'type'],
    [{ where: [...where] }, 'where/1'],
  ];
  for (const [match, failed] of matches) {
    assert.equal(findMismatch(match, view, new MatchBudget()), failed);
  }
});

const refusedConditions: TriggerCondition[] = [
  { path: 'data..x', op: 'exists' },
  { path: '.', op: 'exists' },
  { path: 'a.'.repeat(40), op: 'exists' },
  { path: 'title', op: 'eq' },
  { path: 'title', op: 'exists', value: 'yes' },
  { path: 'title', op: 'matches', value: 7 },
  { path: 'title', op: 'matches', value: '(' },
  { path: 'title', op: 'matches', value: '(?=lookahead)' },
  { path: 'title', op: 'matches', value: '(a)\\1' },
  { path: 'title', op: 'matches', value: '((a{100}){100}){100}' },
  { path: 'title', op: 'matches', value: '(a{30}){30}' },
  { path: 'title', op: 'matches', value: 'a'.repeat(201) },
];
for (const condition of refusedConditions) {
  test(`the condition ${JSON.stringify(condition).slice(0, 80)} is refused`, () => {
    assert.throws(() => checkMatch({ where: [condition] }), { code: 'INVALID_REQUEST' });
  });
}

test('every pattern takes at most linear time', () => {
  const hostile = [
    '(a+)+$',
    '(a|a)*b',
    '(a?){100}',
    '(.*)(.*)(.*)(.*)x$',
    '([a-z]+)*=',
    '(x+x+)+y',
  ];
  const text = 'a'.repeat(MATCHED_CHARS_MAX);
  for (const value of hostile) {
    const where = [{ path: 'content', op: 'matches' as const, value }];
    checkMatch({ where });
    const startMs = performance.now();
    findMismatch({ where }, { ...view, content: text }, new MatchBudget());
    // A backtracking engine would take years for the first of them.
    assert.ok(performance.now() - startMs < 5_000, value);
  }
});

test('the patterns of all triggers share a budget for one event', () => {
  const costly = '(?i)(?:\\pL{1,40}){4}z|$';
  const where = Array.from({ length: 20 }, () => ({
    path: 'content',
    op: 'matches' as const,
    value: costly,
  }));
  checkMatch({ where });
  const long = { ...view, content: 'a'.repeat(MATCHED_CHARS_MAX) };
  const budget = new MatchBudget();
  const start = process.threadCpuUsage();
  for (let trigger = 0; trigger < 100; trigger++) {
    assert.equal(findMismatch({ where }, long, budget), NO_WORK_LEFT);
  }
  const { user } = process.threadCpuUsage(start);
  assert.ok(user / 1_000 < 2_000, `${user / 1_000} ms`);
  const cheap = { where: [{ path: 'title', op: 'matches' as const, value: 'x' }] };
  assert.notEqual(findMismatch(cheap, long, new MatchBudget()), NO_WORK_LEFT);
});

test('each pattern takes its part of the budget, and one without a budget left is not tried', () => {
  const value = '(?i)(?:\\pL{1,4}){4}z|$';
  const match = { where: [{ path: 'content', op: 'matches' as const, value }] };
  const long = { ...view, content: 'a'.repeat(MATCHED_CHARS_MAX) };
  const budget = new MatchBudget();
  const results = Array.from({ length: 100 }, () => findMismatch(match, long, budget));
  const tried = results.indexOf(NO_WORK_LEFT);
  assert.ok(tried > 1, `${tried} patterns were tried`);
  assert.deepEqual(new Set(results.slice(0, tried)), new Set([null]));
  assert.deepEqual(new Set(results.slice(tried)), new Set([NO_WORK_LEFT]));
});

test('a template of many long values stops at its limit', () => {
  const data = Array.from({ length: 5_000 }, (_, at) => ({ at }));
  const start = process.threadCpuUsage();
  const text = renderTemplate(
    '{{event.data}}'.repeat(1_400),
    { event: { data }, trigger: { id: 'trg_1', name: 'n' } },
    { missing: '', charsMax: 100_000 },
  );
  const { user } = process.threadCpuUsage(start);
  assert.equal(text.length, 100_000);
  assert.ok(user / 1_000 < 200, `${user / 1_000} ms`);
});

test('a prompt makes the text of a value once, however often it occurs', () => {
  let made = 0;
  const data = {
    toJSON() {
      made += 1;
      return 'text';
    },
  };
  const prompt = renderPrompt(
    '{{event.data}} {{{event.data}}}\n'.repeat(100),
    { event: { data }, trigger: { id: 'trg_1', name: 'n' } },
    { charsMax: 100_000, fence: (_, text) => text },
  );
  assert.ok(prompt.includes('text'));
  assert.equal(made, 1);
});

test('a template reads no value after its limit', () => {
  const paths = Array.from({ length: 100 }, (_, at) => `value${at}`);
  const read: string[] = [];
  const data = {};
  for (const path of paths) {
    const get = () => {
      read.push(path);
      return 'x'.repeat(40);
    };
    Object.defineProperty(data, path, { enumerable: true, get });
  }
  const template = paths.map((path) => `{{event.data.${path}}}`).join('');
  const trigger = { id: 'trg_1', name: 'n' };
  const text = renderTemplate(
    template,
    { event: { data }, trigger },
    { missing: '', charsMax: 90 },
  );
  assert.equal(text, 'x'.repeat(90));
  assert.deepEqual(read, ['value0', 'value1', 'value2']);
});

const scope = {
  event: { ...view, title: '{{event.content}} $& <b>', content: 'the content' },
  trigger: { id: 'trg_1', name: 'Issues' },
};
const render = (template: string, options = {}) =>
  renderTemplate(template, scope, { missing: '∅', charsMax: 1_000, ...options });

const templates: [template: string, text: string][] = [
  ['{{event.content}}', 'the content'],
  ['{{ event.content }}!', 'the content!'],
  ['{{event.title}}', '{{event.content}} $& <b>'],
  ['{{event.data.number}}/{{event.data.draft}}', '4711/false'],
  ['{{event.data.labels}}', '["api","urgent",7]'],
  ['{{event.data.parent}}{{event.actor}}{{event.data.none.at.all}}', '∅∅∅'],
  ['{{/event/data/nested/a.b}}', 'dotted'],
  ['{{trigger.name}} {{schedule.slotAt}}', 'Issues ∅'],
  ['{{event.constructor.name}}{{event.__proto__}}', '∅∅'],
  ['no placeholder { } at all', 'no placeholder { } at all'],
];
for (const [template, text] of templates) {
  test(`the template ${template} is rendered`, () => {
    checkTemplate('/promptTemplate', template);
    assert.equal(render(template), text);
  });
}

test('a rendered text is cut at its limit, never within a character', () => {
  assert.equal(render('abc', { charsMax: 2 }), 'ab');
  assert.equal(render('a😀', { charsMax: 2 }), 'a');
});

const refusedTemplates = [
  '{{title}}',
  '{{process.env}}',
  '{{event.title',
  '}}',
  '{{}}',
  '{{ a b }}',
];
for (const template of refusedTemplates) {
  test(`the template ${template} is refused`, () => {
    assert.throws(() => checkTemplate('/promptTemplate', template), { code: 'INVALID_REQUEST' });
  });
}

test('a path reaches only own properties', () => {
  assert.deepEqual(parsePath('/a~1b/c~0d'), ['a/b', 'c~d']);
  assert.equal(readPath('text', ['length']), undefined);
  assert.equal(readPath(null, ['a']), undefined);
  assert.equal(readPath([1, 2], ['1']), 2);
  assert.equal(readPath([1, 2], ['01']), undefined);
});
