import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));

/** Starts the demo with a folder of its own for temporary files. */
function startDemo(...args: string[]) {
  const temporary = join(directory, 'temporary');
  mkdirSync(temporary);
  const script = join(import.meta.dirname, '../demo.ts');
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const heard = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('A hub starts')) heard.resolve();
    });
  }
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, output, temporary }));
  // A demo that ends before is told of by what it printed, not by a test that hangs.
  void ended.then(() => heard.reject(new Error(`It ended early:\n${output}`)));
  heard.promise.catch(() => {});
  return { child, ended, hubStarted: heard.promise };
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
}

/** A person's repository of two folders. */
function makeRepository(): string {
  const path = join(directory, 'repository');
  for (const folder of ['source', 'pages']) {
    mkdirSync(join(path, folder), { recursive: true });
    writeFileSync(join(path, folder, 'file.txt'), 'text\n');
  }
  git(path, 'init', '--quiet');
  git(path, 'add', '.');
  const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.test'];
  git(path, ...person, 'commit', '--quiet', '--message', 'Begin');
  return path;
}

test('the demo takes a job from the queue to a commit and leaves nothing behind', async () => {
  const repository = makeRepository();
  const before = git(repository, 'for-each-ref');
  const { exitCode, output, temporary } = await startDemo('--repo', repository).ended;
  assert.equal(exitCode, 0, output);
  assert.match(output, /a scripted stand-in \(not a model\)/);
  assert.match(output, /docs\/folders\.md \| \d+ \+/);
  assert.match(output, /names 2 folders/);
  assert.match(output, /All done in [\d.]+ s/);
  assert.deepEqual(readdirSync(temporary), []);
  assert.equal(git(repository, 'for-each-ref'), before, "the person's repository is untouched");
});

test('a demo that is interrupted ends what it started and says so', async () => {
  const demo = startDemo('--repo', makeRepository());
  await demo.hubStarted;
  demo.child.kill('SIGINT');
  const { exitCode, output, temporary } = await demo.ended;
  assert.equal(exitCode, 130, output);
  assert.match(output, /ended by SIGINT/);
  assert.deepEqual(readdirSync(temporary), []);
});

test('a folder that is no repository is refused before anything starts', async () => {
  const { exitCode, output, temporary } = await startDemo('--repo', directory).ended;
  assert.equal(exitCode, 2);
  assert.match(output, /no git repository/);
  assert.deepEqual(readdirSync(temporary), []);
});
