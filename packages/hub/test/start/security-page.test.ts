import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  BODY_BYTES_MAX,
  errorCodes,
  LABEL_NAME_CHARS_MAX,
  LABEL_VALUE_CHARS_MAX,
} from '@signalbox/contract';
import { QUOTE_CHARS_MAX } from '../../src/assistants/call-tool.ts';
import { FACTS_CHARS_MAX } from '../../src/assistants/facts.ts';
import {
  OPEN_SESSIONS_MAX,
  OPEN_SESSIONS_OF_ADDRESS_MAX,
  WRONG_CODES_MAX,
} from '../../src/devices/policy.ts';
import { TURN_MS } from '../../src/http/call-turns.ts';
import { JSON_DEPTH_MAX } from '../../src/http/json-body.ts';
import {
  CALLS_MAX,
  CALLS_WAITING_MAX,
  READS_MAX,
  READS_WAITING_MAX,
} from '../../src/http/limiter.ts';
import { DEPTH_MAX, RUN_JOBS_MAX, TREE_JOBS_MAX } from '../../src/jobs/tree-limits.ts';
import { LANES_MAX } from '../../src/queue/lane-book.ts';
import { REQUIREMENTS_BYTES_MAX } from '../../src/queue/matching.ts';
import { settings } from '../../src/start/config.ts';
import { MATCH_WORK_MAX } from '../../src/triggers/match-event.ts';
import { OPEN_QUESTIONS_MAX, QUESTIONS_MAX } from '../../src/uncertainties/policy.ts';

const page = readFileSync(
  join(import.meta.dirname, '../../../../docs/operate/security.md'),
  'utf8',
);
/** The cells of each row of the first table. */
const rows = page
  .slice(0, page.indexOf('## Health'))
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** By the beginning of a row: the numbers that it must contain, as the code has them. */
const limits: Readonly<Record<string, readonly number[]>> = {
  'body of a request': [BODY_BYTES_MAX, JSON_DEPTH_MAX],
  'lists, searches and packs': [READS_MAX, READS_WAITING_MAX],
  'other calls of a caller': [CALLS_MAX, CALLS_WAITING_MAX],
  'calls that begin in one turn': [TURN_MS],
  'open device logins': [OPEN_SESSIONS_MAX, OPEN_SESSIONS_OF_ADDRESS_MAX],
  'wrong codes of device logins': [WRONG_CODES_MAX],
  'labels of an agent or a job': [LABEL_NAME_CHARS_MAX, LABEL_VALUE_CHARS_MAX],
  'capabilities that a job requires': [REQUIREMENTS_BYTES_MAX],
  'different requirements': [LANES_MAX],
  'children of a job': [DEPTH_MAX, TREE_JOBS_MAX],
  'questions of a job by its tool': [OPEN_QUESTIONS_MAX, QUESTIONS_MAX],
  'jobs of a run': [RUN_JOBS_MAX],
  'answer of a tool of an': [FACTS_CHARS_MAX, QUOTE_CHARS_MAX],
  'patterns of the triggers': [MATCH_WORK_MAX],
};

test('the page of limits has the numbers of the code', () => {
  for (const [beginning, numbers] of Object.entries(limits)) {
    const row = rows.find(([, what = '']) => what.startsWith(beginning));
    assert.ok(row, `no row begins with: ${beginning}`);
    const stated = new Set(row[2]?.match(/\d[\d,]*/g));
    for (const number of numbers) {
      assert.ok(stated.has(number.toLocaleString('en')), `${beginning}: ${number}`);
    }
  }
});

test('the settings of the page of limits exist, and their rows say the defaults', () => {
  const byName = new Map<string, string>();
  for (const setting of Object.values(settings)) {
    byName.set(setting.env, 'default' in setting ? String(setting.default) : '');
  }
  for (const name of new Set(page.match(/SVC_[A-Z0-9_]*[A-Z0-9]/g))) {
    assert.ok(byName.has(name), `${name} is no setting`);
  }
  const named = rows.flatMap(([, , limit = '', cell = '']) =>
    (cell.match(/^`SVC_[A-Z_]+`(?:, `SVC_[A-Z_]+`)*$/)?.[0].match(/SVC_[A-Z_]+/g) ?? []).map(
      (name) => ({ name, limit }),
    ),
  );
  assert.ok(named.length >= 6, `${named.length} settings bound something`);
  for (const { name, limit } of named) {
    const value = byName.get(name) ?? '';
    const stated = /^\d+$/.test(value) ? Number(value).toLocaleString('en') : value;
    assert.ok(limit.includes(stated), `${name} is ${stated}; the page says: ${limit}`);
  }
});

test('the codes of the page of limits exist, with the statuses that it names', () => {
  const codes = new Map<string, readonly [number, string]>(Object.entries(errorCodes));
  const named = [...page.matchAll(/(\d{3}) `([A-Z_]{4,})`/g)];
  assert.ok(named.length > 15, `${named.length} codes are named`);
  for (const [text, status, code = ''] of named) {
    assert.equal(codes.get(code)?.[0], Number(status), text);
  }
});
