// The demo as a person sees it: in a real terminal, with colours.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { makeRepository, startDemo } from './demo-run.ts';
import { terminalSkip } from './pseudo-terminal.ts';

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

// At once: most of a demo is the pause that the hub asks for between two polls of the login.
suite('the demo ends well in a colour terminal', { concurrency: true }, () => {
  for (const columns of [60, 80, 200]) {
    test(`of ${columns} columns`, { skip: terminalSkip }, async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-test-'));
      t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
      const args = ['--repo', makeRepository(directory)];
      const { exitCode, output, temporary } = await startDemo(directory, args, { columns }).ended;
      assert.equal(exitCode, 0, output);
      assert.ok(output.includes(`${green}✔`), 'it is in colours');
      const plain = stripVTControlCharacters(output);
      for (const step of steps) assert.ok(plain.includes(`✔ ${step}`), `${step}: ${plain}`);
      assert.match(plain, /All done in [\d.]+ s/);
      for (const line of plain.split(/[\r\n]+/)) {
        // A word that is wider than the terminal, such as a path, stays whole to be copied, also
        // behind the bar of a tool's output.
        const canBreak = /\S +\S/.test(line.replace(/^[\s│]+/, ''));
        assert.ok(!canBreak || [...line].length <= columns, `wider than the terminal: ${line}`);
      }
      assert.deepEqual(readdirSync(temporary), []);
    });
  }
});
