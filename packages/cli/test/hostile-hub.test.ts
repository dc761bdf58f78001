import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { invisibleCharacters } from '@signalbox/contract/invisible-characters';
import { commandTable } from '../src/index.ts';
import { type Ended, makeClone, makePlace, onTerminal, type Place } from './harness.ts';
import { startHostileHub } from './hostile-hub.ts';

/** It writes the clipboard, clears the screen, and turns, hides and overwrites text. */
const planted =
  'T\u001b]52;c;WA==\u0007\u001b[3J\u001b[8m\u009b31m\u0085\u202eR\u200b\u{e0041}\r\nX\b';
const idOf = (prefix: string) => `${prefix}_${'0'.repeat(26)}`;
const [jobId, uncertaintyId, runId] = [idOf('job'), idOf('unc'), idOf('run')];
const [itemId, repoId] = [idOf('ctx'), idOf('repo')];
const id = 'anything';

/** Commands by their words: the arguments of a line, or why no line of it can print an answer. */
const lines: Readonly<Record<string, readonly (readonly string[])[] | string>> = {
  login: [['--no-browser', '--workspace', 'acme']],
  logout: [[]],
  whoami: [[]],
  use: [[]],
  'repo link': [['.']],
  'repo list': [[]],
  'repo unlink': [['.']],
  'repo pause': [[repoId]],
  'repo resume': [[repoId]],
  'repo archive': [[repoId]],
  'agent start': 'packages/cli/test/hostile-tool.test.ts',
  'agent service install': 'It reads a file of the person.',
  'agent service remove': 'It reads a file of the person.',
  'agent service status': 'It reads a file of the person.',
  'cloud-ai start': 'It prints ids and its own sentences.',
  enqueue: [
    ['Do it', '--repo', repoId],
    ['Do it', '--repo', repoId, '--wait'],
    ['Do it', '--template', 'none'],
    ['Do it', '--save-template', 'mine'],
  ],
  jobs: [[], ['--all']],
  job: [[jobId], [jobId, '--follow']],
  'job cancel': [[jobId]],
  'job retry': [[jobId]],
  'job continue': [[jobId, 'More']],
  'job choose': [[jobId]],
  review: [[jobId]],
  'job release': [[jobId]],
  'job open': [[jobId]],
  'job log': [[jobId], [jobId, '--calls'], [jobId, '--search', 'x'], [jobId, '--tail', '1']],
  'job diff': [[jobId], [jobId, '--stat'], [jobId, '--since-round'], [jobId, '--request']],
  'work approve': [[jobId]],
  'work land': [[jobId]],
  'work close': [[jobId]],
  'work list': [[]],
  'work show': [[jobId]],
  'work checkout': [[jobId]],
  'work merge': [[jobId]],
  'work prune': [[]],
  watch: 'Below.',
  inbox: [[]],
  answer: [
    [uncertaintyId, '--option', id],
    [uncertaintyId, '--alike', '--text', 'x'],
    [uncertaintyId, '--text', 'x'],
    [uncertaintyId],
    [],
  ],
  'queue pause': [[]],
  'queue resume': [[]],
  runs: [[], [runId]],
  ask: 'It prints an answer for the program that asks, unchanged.',
  mcp: 'It speaks a protocol with a program.',
  'hook install': 'It reads a file of the person.',
  'hook remove': 'It reads a file of the person.',
  'hook status': 'It reads a file of the person.',
  'hook run': 'It speaks a protocol with a program.',
  agents: [[], ['--all']],
  'agent drain': [[planted], [id]],
  'agent resume': [[planted]],
  'agent stop': [[planted]],
  members: [[]],
  'members invite': [['eve@acme.test']],
  'members role': [
    [planted, 'viewer'],
    [id, 'viewer'],
  ],
  'members remove': [[planted]],
  tokens: [[]],
  'tokens create': [['ci']],
  'tokens revoke': [[id]],
  context: [[], ['words']],
  'context show': [[itemId]],
  'context add': [['README.md']],
  doctor: [[]],
  completion: 'It prints words of this program.',
};

let place: Place;
let clone: string;
let isRefusing = false;
let hub: Awaited<ReturnType<typeof startHostileHub>>;
before(async () => {
  place = makePlace();
  clone = makeClone(place);
  hub = await startHostileHub(planted, () => isRefusing);
  Object.assign(place.env, {
    SIGNALBOX_URL: hub.url,
    SIGNALBOX_TOKEN: 'token',
    FORCE_COLOR: '1',
  });
});
after(async () => {
  hub.server.closeAllConnections();
  hub.server.close();
  await place.end();
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are controlled by them.
const ownStyles = /\u001b\[(?:0|1|2|22|3[1-6]|39)m/g;
const commands = new RegExp(`[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f]|${invisibleCharacters}`, 'u');

function assertHarmless(text: string, line: string): void {
  const found = commands.exec(text.replace(ownStyles, ''));
  const shown = JSON.stringify(found?.input.slice(Math.max(0, found.index - 60), found.index + 20));
  assert.equal(found, null, `${line} prints ${shown}`);
}

/** Runs each line, some at a time. */
async function runAll(check: (ended: Ended, line: readonly string[]) => void): Promise<void> {
  const left = Object.entries(lines).flatMap(([words, calls]) =>
    typeof calls === 'string' ? [] : calls.map((args) => [...words.split(' '), ...args]),
  );
  const runNext = async () => {
    for (let line = left.shift(); line !== undefined; line = left.shift()) {
      check(await place.run(line, { cwd: clone }), line);
    }
  };
  await Promise.all([runNext(), runNext(), runNext()]);
}

test('every command that prints an answer of the hub has a line here, or a reason', () => {
  // Those that read their own database, or start a hub.
  const isLocal = (words: string) => /^(up|serve|backup|restore|verify|admin .*)$/.test(words);
  const known = commandTable.map(({ words }) => words.join(' ')).filter((words) => !isLocal(words));
  assert.deepEqual(known.toSorted(), Object.keys(lines).toSorted());
});

test('no string of an answer reaches a terminal as more than text, in any command', async () => {
  let shown = 0;
  await runAll(({ stdout, stderr }, line) => {
    assertHarmless(stdout + stderr, line.join(' '));
    assert.doesNotMatch(stderr, /UNEXPECTED/, line.join(' '));
    if (/T.*R/.test(stdout + stderr)) shown += 1;
  });
  // Otherwise the commands have not got as far as printing.
  assert.ok(shown >= 30, `${shown} lines have shown the text`);
});

test('no string of a refusal reaches a terminal as more than text', async () => {
  isRefusing = true;
  try {
    for (const line of [['jobs'], ['whoami']]) {
      const { stdout, stderr } = await place.run(line);
      assert.match(stderr.replace(ownStyles, ''), /^✖ TR\n {2}X\n {2}Field {4}TR X TR X\n/);
      assertHarmless(stdout + stderr, line.join(' '));
    }
  } finally {
    isRefusing = false;
  }
});

test('the live view shows no string of an answer as more than text', async () => {
  const screen = onTerminal(place, clone, 100, ['watch']);
  await screen.shows(/fact: \d+ × TR X/);
  screen.type('q');
  const { output } = await screen.ended;
  for (const part of ['\u001b]', '\u0007', '\u001b[3J', '\u001b[8m', '\u009b', '\u202e', '\b']) {
    assert.ok(!output.includes(part), JSON.stringify(part));
  }
});

test('JSON on a terminal has escapes in place of what a terminal obeys', async () => {
  const { output } = await onTerminal(place, clone, 100, ['job', jobId, '--json']).ended;
  assertHarmless(output.replaceAll('\r\n', '\n'), 'job --json');
  assert.equal(JSON.parse(output).job.message, planted);
});
