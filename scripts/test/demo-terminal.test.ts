// The demo as a person sees it: in a real terminal, with colours.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { makeRepository, startDemo } from './demo-run.ts';
import { terminalSkip } from './pseudo-terminal.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));

const steps = [
  'A hub starts on a temporary directory',
  'The first owner opens the one-time link',
  'A machine logs in: signalbox login',
  'A repository is linked: signalbox repo link',
  'A job is enqueued: signalbox enqueue',
  'An agent does it with a scripted stand-in (not a model)',
  'The evidence is held against git',
];
const green = '\u001b[32m';

for (const columns of [60, 80, 200]) {
  test(`the demo ends well in a colour terminal of ${columns} columns`, {
    skip: terminalSkip,
  }, async () => {
    const args = ['--repo', makeRepository(directory)];
    const { exitCode, output, temporary } = await startDemo(directory, args, { columns }).ended;
    assert.equal(exitCode, 0, output);
    assert.ok(output.includes(`${green}✔`), 'it is in colours');
    const plain = stripVTControlCharacters(output);
    for (const step of steps) assert.ok(plain.includes(`✔ ${step}`), `${step}: ${plain}`);
    assert.match(plain, /All done in [\d.]+ s/);
    assert.deepEqual(readdirSync(temporary), []);
  });
}
