import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { configFlag, type HubPlace, makeClone, onTerminal, startHub } from './harness.ts';

const longCommand = `npm run ${'very-'.repeat(30)}long`;
const call = (id: number, command: string) => ({
  type: 'assistant',
  message: {
    content: [{ type: 'tool_use', id: `toolu_${id}`, name: 'Bash', input: { command } }],
  },
});
/** Output of Claude Code: a repeated call, and one that is wider than the terminal. */
const stream = [
  { type: 'system', subtype: 'init', session_id: 's1', model: 'claude-sonnet-5' },
  call(1, 'npm test'),
  call(2, 'npm test'),
  call(3, longCommand),
  {
    type: 'result',
    subtype: 'success',
    is_error: false,
    session_id: 's1',
    result: 'Tested.',
    usage: { input_tokens: 10, output_tokens: 2 },
  },
];

let place: HubPlace;
let clone: string;
before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  clone = makeClone(place, 'api');
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  const lines = stream.map((event) => JSON.stringify(event)).join('\n');
  const tool = join(place.directory, 'commands/claude');
  await writeFile(join(place.directory, 'stream'), `${lines}\n`);
  await writeFile(
    tool,
    `#!/bin/sh
[ "$1" = --version ] && echo '2.1.332 (Claude Code)' && exit
cat > /dev/null
cat '${join(place.directory, 'stream')}'
`,
  );
  await chmod(tool, 0o755);
  await place.run(['repo', 'link', '.'], { cwd: clone });
});
after(async () => await place.end());

/** No adapter is offered: what the tool prints is the subject. */
const byCommand = () => configFlag(place, { tool: { name: 'claude', protocol: 'cli' } });

const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are controlled by them.
  /\r?\u001b\[(\d+)A|(\u001b\[J)|(\u001b\[[\d;]*m)|([^\u001b]+|\u001b)/g;

/** The screens that a terminal shows one after the other, a new one after each line. */
function screensOf(output: string): string[][] {
  const screens: string[][] = [];
  let lines = [''];
  for (const [, up, erase, color, text] of output.matchAll(sequences)) {
    if (up !== undefined) lines = lines.slice(0, -1 - Number(up)).concat('');
    if (erase !== undefined || color !== undefined || text === undefined) continue;
    for (const [at, part] of text.replaceAll('\r', '').split('\n').entries()) {
      if (at > 0) lines.push('');
      lines[lines.length - 1] += part;
      screens.push([...lines]);
    }
  }
  return screens;
}

test('on a terminal, what a tool does now is one line that changes in place', async () => {
  for (const columns of [60, 200]) {
    await place.run(['enqueue', 'Test it.'], { cwd: clone });
    const args = ['agent', 'start', '--once', ...byCommand()];
    const { output, exitCode } = await onTerminal(place, clone, columns, args).ended;
    assert.equal(exitCode, exitCodes.ok, output);
    const screens = screensOf(output);
    const passing = screens.map((lines) => lines.filter((line) => / · [0-9a-v]{8} {2}/.test(line)));
    assert.ok(passing.some(([line]) => line?.endsWith('Bash: npm test')));
    assert.equal(Math.max(...passing.map(({ length }) => length)), 1, output);
    const widest = Math.max(...passing.flat().map(({ length }) => length));
    assert.ok(widest < columns, `${widest} of ${columns} columns`);
    assert.deepEqual(passing.at(-1), [], 'the job has ended');
    assert.match(screens.at(-1)?.join('\n') ?? '', /▶ .*“Test it\.”[\s\S]*✔ .*done[\s\S]*offline/);
  }
});

test('in a pipe, each thing that a tool does is a line, once', async () => {
  await place.run(['enqueue', 'Test it.'], { cwd: clone });
  const { stdout } = await place.run(['agent', 'start', '--once', ...byCommand()]);
  const said = stdout.split('\n').filter((line) => line.includes('Bash: '));
  assert.deepEqual(
    said.map((line) => line.replace(/^.*Bash: (npm \w+).*$/, '$1')),
    ['npm test', 'npm run'],
  );
  assert.ok(!stdout.includes('\u001b'));
});
