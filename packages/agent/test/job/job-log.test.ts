import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { ACTIVITY_TITLE_CHARS_MAX, PLAN_ENTRIES_MAX, type ToolCall } from '@signalbox/contract';
import type { Clock } from '../../src/clock.ts';
import type { LogPart } from '../../src/executors/log-part.ts';
import { systemClock } from '../../src/index.ts';
import { openJobLog, readLogBatch } from '../../src/job/job-log.ts';
import { createRedactor } from '../../src/job/redaction.ts';

const secret = 'a-secret-of-mine';

interface LogSetup {
  known?: string[];
  clock?: Clock;
}

async function openLog(t: TestContext, { known = [], clock = systemClock }: LogSetup = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'log.ndjson');
  const redactor = createRedactor([secret, ...known]);
  const common = { file, redactor, clock };
  const log = await openJobLog({ ...common, bytesMax: 1_000_000, onGrowth() {} });
  return { file, log };
}

test('a secret split across two writes within a long line is redacted', async (t) => {
  const { file, log } = await openLog(t);
  for (let cut = 1; cut < secret.length; cut++) {
    await log.write('stdout', 'y'.repeat(16_400) + secret.slice(0, cut));
    await log.write('stdout', `${secret.slice(cut)}z\n`);
  }
  await log.close();
  let text = '';
  let offset = 0;
  for (;;) {
    const { entries, nextOffset } = await readLogBatch(file, offset);
    if (entries.length === 0) break;
    text += entries.map(({ message }) => message).join('');
    offset = nextOffset;
  }
  assert.equal(text, `${'y'.repeat(16_400)}[redacted]z\n`.repeat(secret.length - 1));
});

const longSecret = 'sbx_s_0123456789abcdefghijklmnopqrstuvwxyzABCDE';
const half = longSecret.slice(0, 20);
const rest = longSecret.slice(20);
const encoded = (before: string) => Buffer.from(before + longSecret).toString('base64');
const disguises: readonly (readonly [how: string, parts: readonly string[]])[] = [
  ['an escape sequence', [`${half}\x1b[0m${rest}\n`]],
  ['a title sequence', [`${half}\x1b]0;title\x07${rest}\n`]],
  ['an invisible character', [`${half}\u200b${rest}\n`]],
  ['a line end', [`${half}\n${rest}\n`]],
  ['a line end between two writes', [`${half}\n`, `${rest}\n`]],
  ['an escape sequence between two writes', [`${half}\x1b[`, `1m${rest}\n`]],
  ['base64', [`${encoded('')}\n`]],
  ['base64 after one character', [`${encoded('x')}\n`]],
  ['base64 after two characters', [`${encoded('xy')}\n`]],
  ['base64 in lines', [`${encoded('').replaceAll(/.{16}/g, '$&\n')}\n`]],
  ['hexadecimal', [`${Buffer.from(longSecret).toString('hex')}\n`]],
];
for (const [how, parts] of disguises) {
  test(`a secret disguised by ${how} is redacted`, async (t) => {
    const { file, log } = await openLog(t, { known: [longSecret] });
    await log.write('stdout', 'before\n');
    for (const part of parts) await log.write('stdout', part);
    await log.write('stdout', 'after\n');
    await log.close();
    const { entries } = await readLogBatch(file, 0);
    const text = entries.map(({ message }) => message).join('');
    assert.match(text, /^before\n.{0,4}\[redacted\][\s\S]{0,8}\nafter\n$/);
  });
}

test('an unknown key whose end begins a known secret is not divided', async (t) => {
  const { file, log } = await openLog(t, { known: ['r4-short'] });
  const foreign = 'sbx_s_0123456789abcdefghijklmnopqrstuvwxyzABCDr';
  const key = `ghp_${'x'.repeat(35)}r`;
  for (const line of [`token ${foreign}\n`, 'next\n', `key ${key}\n`, 'next\n']) {
    await log.write('stdout', line);
  }
  await log.close();
  const { entries } = await readLogBatch(file, 0);
  const text = entries.map(({ message }) => message).join('');
  assert.equal(text, 'token sbx_s_…\nnext\nkey [redacted]\nnext\n');
});

/** A secret that output, files and diffs change by accident. */
const awkward = 'p@ss/w+rd&"x=\'1Zq7';
const html = (text: string) =>
  text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/'/g, '&#x27;');
const json = (value: unknown) => JSON.stringify(value);
const hex = Buffer.from(awkward).toString('hex');
const forms: readonly (readonly [how: string, text: string])[] = [
  ['an address', `https://acme.test/?q=${encodeURIComponent(awkward)}&b=1`],
  ['an address, in small letters', encodeURIComponent(awkward).toLowerCase().replace('zq', 'Zq')],
  ['the path of an address', encodeURI(awkward)],
  ['JSON', json({ password: awkward })],
  ['JSON in JSON', json(json({ password: awkward }))],
  ['JSON of Go', json(awkward).replace('&', '\\u0026')],
  ['JSON of PHP', json(awkward).replace('/', '\\/')],
  ['HTML', `<td>${html(awkward)}</td>`],
  ['HTML in HTML', html(html(awkward))],
  ['HTML with numbers', awkward.replace(/[&"']/g, (char) => `&#${char.charCodeAt(0)};`)],
  ['a shell in single quotes', `export P='${awkward.replaceAll("'", "'\\''")}'`],
  ['a shell in other quotes', `'${awkward.replaceAll("'", `'"'"'`)}'`],
  ['a shell without quotes', awkward.replaceAll(/\W/g, '\\$&')],
  ['hexadecimal with blanks', hex.replaceAll(/../g, '$& ')],
  ['hexadecimal with colons', hex.replaceAll(/../g, '$&:').slice(0, -1)],
  ['hexadecimal in groups', hex.replaceAll(/.{8}/g, '$& ').toUpperCase()],
  ['indented lines', awkward.replaceAll(/.{6}/g, '$&\n    ')],
  ['a diff', `+${awkward.replaceAll(/.{6}/g, '$&\n+  ')}`],
  ['a quotation', `> ${awkward.replaceAll(/.{6}/g, '$&\n> ')}`],
];
for (const [how, text] of forms) {
  test(`a secret that is written as in ${how} is found and redacted`, () => {
    const redactor = createRedactor([awkward]);
    assert.ok(redactor.finds(text), text);
    const shown = redactor.redact(`before ${text} after`);
    assert.match(shown, /^before [\s\S]*\[redacted\][\s\S]* after$/);
    // As much as is too short to be held back.
    for (const part of ['1Zq7', '317a7137', '317A7137', '31 7a 71', '31:7a:71', 'w+rd', 'w%2brd']) {
      assert.ok(!shown.includes(part), shown);
    }
  });
}

test('ordinary text is kept, although it has the letters of a short secret between blanks', () => {
  const redactor = createRedactor(['foobar', 'x1-y2-z3-w4-v5']);
  for (const text of [
    'foo bar',
    'a foo\nbar\\',
    '"foo" \'bar\'',
    '%41&amp;\\x42 12:34:56',
    '50%',
  ]) {
    const kept = text.includes('\n') ? text.replace('foo\nbar', '[redacted]\n') : text;
    assert.equal(redactor.redact(text), kept);
  }
});

/** Composed at run time, so that no scanner reports this file as a leak. */
const keyOf = (...parts: string[]) => parts.join('');
const letters = 'aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5';
const pem = (end: string) => keyOf('-----BEGIN RSA ', `PRIVATE KEY-----\n${letters}\n${end}`);

test('keys of well-known formats are redacted, also where a long line is cut or in pieces', async (t) => {
  const { file, log } = await openLog(t);
  const keys = [keyOf('ghp_', letters), keyOf('AKIA', 'IOSFODNN7EXAMPLE'), keyOf('npm_', letters)];
  for (const key of keys) {
    await log.write('stdout', `key ${key}\n`);
    await log.write('stdout', `split ${key.slice(0, 12)}\x1b[0m${key.slice(12)}\n`);
    await log.write('stdout', `${'y '.repeat(8_300)}${key.slice(0, 9)}`);
    await log.write('stdout', `${key.slice(9)} z\n`);
  }
  for (const line of pem(keyOf('-----END RSA ', 'PRIVATE KEY-----')).split('\n')) {
    await log.write('stdout', `${line}\n`);
  }
  await log.write('stdout', 'after\n');
  await log.close();
  const { entries } = await readLogBatch(file, 0);
  const text = entries.map(({ message }) => message).join('');
  const each = `key [redacted]\nsplit [redacted]\n${'y '.repeat(8_300)}[redacted] z\n`;
  assert.equal(text, `${each.repeat(keys.length)}[redacted]\nafter\n`);
});

test('every split of a secret over two lines is redacted but for a few characters', async (t) => {
  for (let cut = 1; cut < longSecret.length; cut++) {
    const { file, log } = await openLog(t, { known: [longSecret] });
    await log.write('stdout', `${longSecret.slice(0, cut)}\n`);
    await log.write('stdout', `${longSecret.slice(cut)}\n`);
    await log.close();
    const { entries } = await readLogBatch(file, 0);
    const text = entries.map(({ message }) => message).join('');
    assert.ok(text.replaceAll(/\s|\[redacted\]/g, '').length <= 3, `${cut}: ${text}`);
  }
});

test('the lines of two streams keep their order and never mix', async (t) => {
  const { file, log } = await openLog(t);
  await Promise.all([log.write('stdout', 'out 1\nout '), log.write('stderr', 'err 1\nerr ')]);
  await Promise.all([log.write('stdout', '2\n'), log.write('stderr', '2\n')]);
  await log.close();
  const { entries } = await readLogBatch(file, 0);
  assert.deepEqual(
    entries.map(({ logSeq, stream, message }) => [logSeq, stream, message]),
    [
      [1, 'stdout', 'out 1\n'],
      [2, 'stderr', 'err 1\n'],
      [3, 'stdout', 'out 2\n'],
      [4, 'stderr', 'err 2\n'],
    ],
  );
});

test('an entry that was half written when the agent was killed is skipped', async (t) => {
  const { file, log } = await openLog(t);
  await log.write('stdout', 'whole\n');
  await log.close();
  appendFileSync(file, '{"logSeq":2,"mess');
  const { entries, nextOffset } = await readLogBatch(file, 0);
  assert.deepEqual(
    entries.map(({ message }) => message),
    ['whole\n'],
  );
  assert.deepEqual((await readLogBatch(file, nextOffset)).entries, []);
});

test('redacting hostile output takes time in proportion to its length', () => {
  const redactor = createRedactor([secret]);
  const began = process.threadCpuUsage();
  redactor.redact('x'.repeat(2_000_000));
  redactor.redact('://'.repeat(300_000));
  redactor.redact('sbx_d_'.repeat(300_000));
  redactor.redact('\x1b[0m'.repeat(300_000));
  redactor.redact('\x1b]'.repeat(300_000));
  redactor.redact('\x1b[1;'.repeat(300_000));
  for (const part of [
    '%41',
    '%',
    '&amp;',
    '&',
    '&#',
    '\\x41',
    '\\',
    "'",
    '\n+',
    ' ',
    'ab:',
    '-----BEGIN ',
  ]) {
    redactor.redact(part.repeat(300_000));
    redactor.safeEnd(part.repeat(300_000), false);
  }
  redactor.safeEnd('a-s'.repeat(300_000), true);
  const { user, system } = process.threadCpuUsage(began);
  // Of this thread alone, in microseconds. A quadratic algorithm would take minutes.
  assert.ok(user + system < 20_000_000);
});

/** The entries with an activity, and the text of each. */
async function readActivities(file: string) {
  const { entries } = await readLogBatch(file, 0);
  return entries.flatMap(({ message, activity }) =>
    activity === undefined ? [] : [{ message, activity }],
  );
}

const call = { id: 'c1', kind: 'execute', title: 'npm test' } as const;
const startOf = (fields: Partial<ToolCall> = {}): LogPart => {
  const toolCall: ToolCall = { ...call, status: 'running', ...fields };
  return { text: `→ ${toolCall.title}\n`, activity: { toolCall } };
};

test('an activity begins an entry, and what was said before it stays before it', async (t) => {
  const { file, log } = await openLog(t);
  await log.append('stdout', [{ text: 'Half a line' }, { text: '\n' }, startOf()]);
  await log.append('stdout', [{ text: '', activity: { usage: { inputTokens: 3 } } }]);
  await log.append('stdout', [{ text: 'Then more.\n' }]);
  await log.close();
  const { entries } = await readLogBatch(file, 0);
  assert.deepEqual(
    entries.map(({ message, activity }) => [message, Object.keys(activity ?? {})]),
    [
      ['Half a line\n', []],
      ['→ npm test\n', ['toolCall']],
      ['Then more.\n', ['usage']],
    ],
  );
});

test('every text of an activity is redacted, before it is cut, and takes one line', async (t) => {
  const { file, log } = await openLog(t);
  const far = 'x'.repeat(ACTIVITY_TITLE_CHARS_MAX - 4) + secret;
  const files = [`${secret}/a.ts`];
  await log.append('stdout', [
    startOf({ title: far, id: secret, locations: files }),
    startOf({ title: `\x1b[31mred\x1b[0m\n${secret}`, changes: [{ path: files[0] ?? '' }] }),
    { text: 'Plan:\n', activity: { plan: { entries: [{ text: secret, status: 'pending' }] } } },
    { text: '', activity: { session: { sessionId: secret, tool: secret, model: secret } } },
  ]);
  await log.close();
  const found = await readActivities(file);
  assert.equal(found.length, 4);
  assert.ok(!JSON.stringify(found).includes(secret.slice(0, 6)), JSON.stringify(found));
  assert.equal(found[1]?.activity.toolCall?.title, 'red [redacted]');
  assert.deepEqual(found[1]?.activity.toolCall?.changes, [{ path: '[redacted]/a.ts' }]);
  assert.equal(found[0]?.activity.toolCall?.title.length, ACTIVITY_TITLE_CHARS_MAX);
});

test('a plan and the usage are sent when they have changed, and no more than fits', async (t) => {
  const { file, log } = await openLog(t);
  const plan = (status: 'pending' | 'completed', count = 1): LogPart => {
    const entries = Array.from({ length: count }, () => ({ text: 'Mend it', status }));
    return { text: 'Plan\n', activity: { plan: { entries } } };
  };
  const usage = { text: '', activity: { usage: { outputTokens: 1 } } };
  await log.append('stdout', [plan('pending'), plan('pending'), usage, usage]);
  await log.append('stdout', [plan('completed', PLAN_ENTRIES_MAX + 1)]);
  await log.close();
  const found = await readActivities(file);
  assert.deepEqual(
    found.map(({ activity }) => activity.plan?.entries.length ?? activity.usage?.outputTokens),
    [1, 1, PLAN_ENTRIES_MAX],
  );
});

test('the end of a call says how long it took', async (t) => {
  let nowMs = 5_000;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const { file, log } = await openLog(t, { clock });
  await log.append('stdout', [startOf()]);
  nowMs += 4_000.4;
  await log.append('stdout', [startOf({ status: 'done' }), startOf({ id: 'c2', status: 'done' })]);
  await log.close();
  const found = await readActivities(file);
  const durations = found.map(({ activity }) => activity.toolCall?.durationMs);
  assert.deepEqual(durations, [undefined, 4_000, undefined]);
});

test('figures that the hub would refuse are left out', async (t) => {
  const { file, log } = await openLog(t);
  const usage = { inputTokens: 1e20, outputTokens: -1, contextTokens: 0.5, costUsd: 1e12 };
  await log.append('stdout', [
    startOf({ status: 'failed', exitCode: 99_999_999_999 }),
    { text: '', activity: { usage: { ...usage, cachedInputTokens: 7 } } },
  ]);
  await log.close();
  const [ended, used] = await readActivities(file);
  assert.equal(ended?.activity.toolCall?.exitCode, undefined);
  assert.deepEqual(used?.activity.usage, { cachedInputTokens: 7 });
});
