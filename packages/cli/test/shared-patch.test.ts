import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { exitCodes } from '../src/index.ts';
import {
  configFlag,
  enqueueJob,
  type HubPlace,
  linkClone,
  makeClone,
  onTerminal,
  startHub,
  useServiceToken,
} from './harness.ts';

let place: HubPlace;
let clone: string;
let repoId: string;
before(async () => {
  place = await startHub();
  await useServiceToken(place);
  clone = makeClone(place);
  repoId = await linkClone(place, clone);
});
after(async () => await place.end());

async function makeWork(command: string, share: string): Promise<string> {
  const jobId = await enqueueJob(place, repoId, 'Change it');
  await runAgent(command, share);
  return jobId.slice(-8);
}

async function runAgent(command: string, share: string): Promise<void> {
  const stateDir = join(place.directory, 'agent');
  const settings = configFlag(place, { 'state-dir': stateDir, share: { changes: share } });
  const agent = await place.run(['agent', 'start', '--once', '--tool', command, ...settings]);
  assert.equal(agent.exitCode, exitCodes.ok, agent.stderr);
}

test('job diff shows the shared patch where the branch of the job is not', async () => {
  const id = await makeWork('echo good > good.txt; printf "a\\033[2Jb\\n" > bell.txt', 'patch');
  const diff = (...options: string[]) => place.run(['job', 'diff', id, ...options]);
  const plain = await diff();
  assert.equal(plain.exitCode, exitCodes.ok, plain.stderr);
  assert.match(plain.stdout, /^diff --git a\/bell\.txt .*\n\+\+\+ b\/good\.txt\n@@ .*\n\+good\n$/s);
  assert.match(plain.stderr, /not here/);
  assert.match((await diff('--stat')).stdout, /good\.txt \| +1 \+/);
  const document = JSON.parse((await diff('--json')).stdout);
  assert.deepEqual([document.branch, document.filesOmitted], [null, 0]);
  assert.match(document.patch, /\+good\n/);
  // A terminal gets colours, and no control character of a file.
  const { output } = await onTerminal(place, place.directory, 80, ['job', 'diff', id]).ended;
  assert.ok(output.includes('\u001b[32m+a<1b>[2Jb\u001b[39m'), output);
  assert.match(stripVTControlCharacters(output), /\+good/);
  // The clone has the branch, so git itself shows it.
  const inClone = await place.run(['job', 'diff', id], { cwd: clone });
  assert.equal(inClone.stderr, '');
});

test('job diff shows what the latest round has changed, in the clone and elsewhere', async () => {
  const command = 'if [ -e one.txt ]; then echo two > two.txt; else echo one > one.txt; fi';
  const first = await makeWork(command, 'patch');
  const next = await place.run(['job', 'continue', first, 'And two', '--json']);
  assert.equal(next.exitCode, exitCodes.ok, next.stderr);
  const id: string = JSON.parse(next.stdout).job.jobId;
  await runAgent(command, 'patch');
  for (const cwd of [place.directory, clone]) {
    const diff = (...options: string[]) => place.run(['job', 'diff', id, ...options], { cwd });
    const round = await diff('--since-round');
    assert.match(round.stdout, /^\+two$/m, round.stderr);
    assert.doesNotMatch(round.stdout, /one\.txt/);
    assert.match((await diff()).stdout, /^\+one$/m);
  }
});

test('without a shared patch, job diff says what to do', async () => {
  const id = await makeWork('echo other > other.txt', 'stat');
  const { stderr, exitCode } = await place.run(['job', 'diff', id]);
  assert.equal(exitCode, exitCodes.usage);
  assert.match(stderr, /not in this directory, and its agent shares no patch of it/);
  assert.match(stderr, /share\.changes: on-request/);
  const asked = await place.run(['job', 'diff', id, '--request']);
  assert.notEqual(asked.exitCode, exitCodes.ok);
  assert.match(asked.stderr, /shares no changes on request: who runs it can set share\.changes/);
});

test('job diff asks for changes that an agent shares on request, which tells its person', async () => {
  const id = await makeWork('echo asked > asked.txt', 'on-request');
  const diff = (...options: string[]) => place.run(['job', 'diff', id, ...options]);
  assert.match((await diff()).stderr, /ask for it: signalbox job diff \w{8} --request/);
  const asked = await diff('--request');
  assert.equal(asked.exitCode, exitCodes.ok, asked.stderr);
  assert.match(asked.stdout, /Asked for the changes: it waits for .*, last seen /);
  assert.match((await diff()).stderr, /test asked .*; waits for .*wait for it/s);
  const job = async () => (await place.run(['job', id])).stdout;
  assert.match(await job(), /Changes +test asked .*; waits for /);
  const document = JSON.parse((await diff('--request', '--json')).stdout);
  assert.deepEqual([document.place.onRequest, document.place.request.answeredAt], [true, null]);
  const stateDir = join(place.directory, 'agent');
  const settings = { 'state-dir': stateDir, share: { changes: 'on-request' } };
  const agent = place.start(['agent', 'start', '--tool', 'true', ...configFlag(place, settings)]);
  await agent.says(new RegExp(`${id}  test asks for its changes`));
  await agent.says(new RegExp(`${id}  its changes are shared`));
  agent.child.kill('SIGTERM');
  await agent.ended;
  assert.match((await diff()).stdout, /^\+asked$/m);
  assert.match(await job(), /Changes +test asked .*; shared /);
});
