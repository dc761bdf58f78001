import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, startHub, useServiceToken } from './harness.ts';
import { type ModelProvider, startModelProvider } from './model-provider.ts';

let place: HubPlace;
let client: ReturnType<typeof createClient>;
let workspaceId: string;
let provider: ModelProvider;

before(async () => {
  place = await startHub();
  const token = await useServiceToken(place);
  client = createClient({ baseUrl: place.url, token });
  workspaceId = (await client.workspaces.resolve({ slug: place.workspaceSlug })).workspaceId ?? '';
  provider = await startModelProvider();
});
after(async () => {
  await place.end();
  await provider.stop();
});

const input = { messages: [{ role: 'user' as const, content: 'Yes?' }] };
const base = ['cloud-ai', 'start', '--provider', 'anthropic', '--model', 'sonnet'];
const args = () => [...base, '--base-url', provider.baseUrl];
const withKey = (key: string) => ({ env: { ANTHROPIC_API_KEY: key } });

async function enqueue(): Promise<string> {
  return (await client.cloudAiJobs.enqueue({ workspaceId, kind: 'ask', input })).cloudAiJobId;
}

async function read(cloudAiJobId: string) {
  return (await client.cloudAiJobs.get({ workspaceId, cloudAiJobId })).cloudAiJob;
}

test('an executor makes one model call and exits with its outcome', async () => {
  const id = await enqueue();
  const { exitCode, stdout, stderr } = await place.run(
    [...args(), '--once'],
    withKey(provider.key),
  );
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stdout, /Provider +anthropic/);
  assert.match(stdout, /✔ .* done · 11 tokens in, 7 out/);
  const job = await read(id);
  assert.deepEqual([job.status, job.result], ['done', { text: 'Yes.' }]);
});

test('with --json an executor prints one line per event and exits with 1 for a failed job', async () => {
  await enqueue();
  provider.refuseNext(400);
  const { exitCode, stdout } = await place.run(
    [...args(), '--once', '--json'],
    withKey(provider.key),
  );
  assert.equal(exitCode, exitCodes.failed);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => type !== 'draining'),
    ['online', 'job-claimed', 'job-finished', 'result-accepted', 'offline'],
  );
});

test('a rejected key ends the executor without printing the key, and the job stays pending', async () => {
  const id = await enqueue();
  const key = 'sk-wrong-fedcba9876543210';
  const { exitCode, stdout, stderr } = await place.run(args(), withKey(key));
  assert.equal(exitCode, exitCodes.failed);
  assert.match(stderr, /401: Incorrect API key provided: \[redacted\]/);
  assert.ok(!(stdout + stderr).includes(key));
  assert.equal((await read(id)).outcome, null);
});

test('SIGTERM lets an executor finish its current call', async () => {
  const held = provider.holdNext();
  const executor = place.start(args(), withKey(provider.key));
  const answerIt = await held;
  executor.child.kill('SIGTERM');
  await executor.says(/accepting no more jobs/);
  answerIt();
  const { exitCode, stdout } = await executor.ended;
  assert.equal(exitCode, exitCodes.ok, stdout);
  assert.match(stdout, /✔/);
});

test('missing and invalid settings are reported before the executor starts', async () => {
  const none = await place.run(base);
  assert.equal(none.exitCode, exitCodes.usage);
  assert.match(none.stderr, /ANTHROPIC_API_KEY is not set/);
  const spoiled = await place.run(base, withKey('sk-äöü secret'));
  assert.equal(spoiled.exitCode, exitCodes.usage);
  assert.ok(!spoiled.stderr.includes('secret'));
  const noPlace = await place.run([
    ...['cloud-ai', 'start', '--provider', 'openai-compatible', '--model', 'qwen3'],
  ]);
  assert.equal(noPlace.exitCode, exitCodes.usage);
  assert.match(noPlace.stderr, /--base-url/);
  const unknown = await place.run(['cloud-ai', 'start', '--provider', 'acme', '--model', 'x']);
  assert.equal(unknown.exitCode, exitCodes.usage);
});
