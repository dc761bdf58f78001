import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { createClientOf } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { git, makeClone, makePlace, type Place, type Running } from './harness.ts';

const stream = 'claude-success.jsonl';
const streams = join(import.meta.dirname, '../../agent/test/executors/streams');

let place: Place;
let bin: string;
before(() => {
  place = makePlace();
  bin = join(place.directory, 'bin');
  mkdirSync(bin);
  copyFileSync(join(streams, stream), join(bin, stream));
  // A stand-in for Claude Code that changes a file and prints what the real one did.
  // Asked for its version, it is not in a job.
  const writeNotes = '[ -z "$SIGNALBOX_JOB_ID" ] || cat >> NOTES.md';
  const lines = ['#!/bin/sh', writeNotes, `cat "$(dirname "$0")/${stream}"`, ''];
  writeFileSync(join(bin, 'claude'), lines.join('\n'));
  chmodSync(join(bin, 'claude'), 0o755);
});
after(async () => await place.end());

const dataDir = () => join(place.directory, '.local/share/signalbox');

interface UpLine {
  url: string;
  dataDir: string;
  workspaceSlug: string;
  signInUrl: string;
  clone: string | null;
}

/** Only programs of the system beside the tool: no coding tool of the person who runs the test. */
const env = () => ({ PATH: [bin, '/usr/bin', '/bin'].join(delimiter) });

function up(cwd: string, ...more: string[]): Running {
  return place.start(['up', '--json', '--port', '0', ...more], { cwd, env: env() });
}

async function lineOf(running: Running): Promise<UpLine> {
  const [line] = await running.says(/^\{"event":"up".*\}$/m);
  return JSON.parse(line);
}

const readLogins = () => readFileSync(join(place.directory, 'config/credentials.json'), 'utf8');

const doJob = (cwd: string) =>
  place.run(['enqueue', 'Take a note.', '--wait'], { cwd, env: env() });

describe('signalbox up in a clone', () => {
  let clone: string;
  let running: Running;
  let first: UpLine;
  before(async () => {
    clone = makeClone(place, 'api');
    running = up(clone);
    first = await lineOf(running);
  });

  test('starts a hub in the directory of the user, with a link that signs its owner in', async () => {
    assert.equal(first.dataDir, dataDir());
    assert.equal(first.clone, clone);
    assert.equal(existsSync(join(dataDir(), 'signalbox.db')), true);
    const { url, signInUrl } = first;
    const { session } = createClientOf(consoleEndpoints, {
      baseUrl: url,
      fetch: (input, init) => {
        const headers = new Headers(init?.headers);
        headers.set('origin', url);
        return fetch(input, { ...init, headers });
      },
    });
    const linkToken = new URLSearchParams(new URL(signInUrl).hash.slice(1)).get('token') ?? '';
    const { person, workspaces } = await session.signInByLink({ linkToken });
    assert.deepEqual([person?.name, person?.email], ['Ada', 'ada@acme.test']);
    assert.deepEqual(
      workspaces.map(({ slug, role }) => [slug, role]),
      [[first.workspaceSlug, 'owner']],
    );
  });

  test('gets a job of the clone done, without another command', async () => {
    const { exitCode, stdout, stderr } = await doJob(clone);
    assert.equal(exitCode, exitCodes.ok, stdout + stderr);
    assert.match(git(clone, 'branch', '--list', 'signalbox/*'), /signalbox\/job_/);
  });

  test('run again, it finds the hub, the login and the agent, and ends', async () => {
    const logins = readLogins();
    const again = up(clone);
    const { url, signInUrl } = await lineOf(again);
    const { exitCode, stderr } = await again.ended;
    assert.equal(exitCode, exitCodes.ok, stderr);
    assert.match(stderr, /An agent works on this clone already/);
    assert.equal(url, first.url);
    assert.notEqual(signInUrl, first.signInUrl);
    assert.equal(readLogins(), logins, 'the machine is logged in once');
  });

  test('in another clone it adds that clone to the hub, and Ctrl-C leaves the hub', async () => {
    const other = makeClone(place, 'web');
    const second = up(other);
    assert.equal((await lineOf(second)).url, first.url);
    const { exitCode, stdout, stderr } = await doJob(other);
    assert.equal(exitCode, exitCodes.ok, stdout + stderr);
    second.child.kill('SIGINT');
    assert.equal((await second.ended).exitCode, exitCodes.ok);
    assert.equal((await place.run(['jobs'])).exitCode, exitCodes.ok);
  });

  test('Ctrl-C ends the agent, then the hub', async () => {
    running.child.kill('SIGINT');
    const { exitCode, stdout } = await running.ended;
    assert.equal(exitCode, exitCodes.ok);
    const types = stdout
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line).type]));
    assert.equal(types.at(-1), 'offline');
    assert.equal((await place.run(['jobs'])).exitCode, exitCodes.unreachable);
  });
});

test('outside of a clone it runs hub and console alone', async () => {
  const folder = join(place.directory, 'no-clone');
  mkdirSync(folder);
  const running = place.start(['up', '--port', '0', '--data-dir', join(folder, 'data')], {
    cwd: folder,
    env: env(),
  });
  await running.says(/sign-in-link#token=\S+\n/);
  await running.notes(/To let an agent work on a clone, run there: +\S+ ?up/);
  running.child.kill('SIGTERM');
  const { exitCode, stderr } = await running.ended;
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stderr, /Stopping the hub/);
});

test('without a coding tool the hub stays, and says what is missing', async () => {
  const clone = makeClone(place, 'toolless');
  const line = ['up', '--port', '0', '--data-dir', join(place.directory, 'toolless-data')];
  const running = place.start(line, { cwd: clone, env: { PATH: '/usr/bin:/bin' } });
  await running.says(/sign-in-link#token=\S+\n/);
  await running.notes(/No agent was started\. None of claude, codex\b.* is on the PATH\./);
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).exitCode, exitCodes.ok);
});

test('a path that is no clone is refused before anything starts', async () => {
  const folder = join(place.directory, 'nothing');
  mkdirSync(folder);
  const { exitCode, stderr } = await place.run(['up', folder, '--data-dir', join(folder, 'data')]);
  assert.equal(exitCode, exitCodes.usage);
  assert.match(stderr, /NOT_A_CLONE/);
  assert.equal(existsSync(join(folder, 'data')), false);
});
