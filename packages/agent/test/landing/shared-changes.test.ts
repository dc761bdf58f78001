import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { PATCH_BYTES_MAX } from '@signalbox/contract';
import type { AgentRepository } from '../../src/index.ts';
import { repoId, type Setup, setup } from '../support/harness.ts';

const SECRET = `key-${randomBytes(12).toString('hex')}`;

interface SharedEvidence {
  changedFiles: string[];
  files?: { path: string; added?: number; deleted?: number }[];
  patch?: { uploadId?: string; sizeBytes?: number; filesOmitted?: number; refused?: string };
}

/** Runs a job with this choice, and returns its evidence. */
async function runJob(
  world: Setup,
  command: string,
  shareChanges?: NonNullable<AgentRepository['shareChanges']>,
): Promise<SharedEvidence> {
  const share = shareChanges === undefined ? {} : { shareChanges };
  const held = world.hub.enqueue({ repoId });
  await world.start(command, {
    repositories: [{ repoId, path: world.clone, ...share }],
    env: { ...process.env, DEPLOY_API_KEY: SECRET },
  });
  await world.hub.until('a result', () => held.accepted !== null, 60_000);
  return held.accepted?.evidence as SharedEvidence;
}

const patchOf = ({ hub }: Setup, { patch }: SharedEvidence) =>
  hub.uploads.get(patch?.uploadId ?? '') ?? '';

/** Two changed text files and one that is not text. */
const CHANGE = 'echo more >> README.md; printf "a\\nb\\n" > new.txt; printf "\\0\\1" > data.bin';

test('an agent shares names and counts of lines, unless a person chose otherwise', async (t) => {
  const world = await setup(t);
  const evidence = await runJob(world, CHANGE);
  assert.deepEqual(evidence.files, [
    { path: 'README.md', added: 1, deleted: 0 },
    { path: 'data.bin' },
    { path: 'new.txt', added: 2, deleted: 0 },
  ]);
  assert.equal(evidence.patch, undefined);
  assert.equal(world.hub.uploads.size, 0);
});

test('with the choice of names, counts stay on the machine', async (t) => {
  const world = await setup(t);
  const evidence = await runJob(world, CHANGE, 'names');
  assert.deepEqual(evidence.changedFiles, ['README.md', 'data.bin', 'new.txt']);
  assert.equal(evidence.files, undefined);
});

test('a shared patch gives the changes of the commit', async (t) => {
  const world = await setup(t);
  const evidence = await runJob(world, CHANGE, 'patch');
  const text = patchOf(world, evidence);
  assert.match(text, /^diff --git a\/README\.md b\/README\.md\n/);
  assert.match(text, /@@ -1 \+1,2 @@\n hello\n\+more\n/);
  assert.match(text, /\nBinary files /);
  assert.equal(evidence.patch?.sizeBytes, Buffer.byteLength(text));
  assert.equal(evidence.patch?.filesOmitted, undefined);
  const bodyOf = (path: string) => world.hub.calls.find((call) => call.path.endsWith(path))?.body;
  const { jobId, agentId, claimGeneration } = bodyOf('/jobs/complete') ?? {};
  assert.deepEqual(bodyOf('/uploads/create')?.job, { jobId, agentId, claimGeneration });
});

test('no secret of the agent is in a patch, on one line or over two', async (t) => {
  const world = await setup(t);
  const [first, second] = [SECRET.slice(0, 10), SECRET.slice(10)];
  const base64 = Buffer.from(SECRET).toString('base64');
  const evidence = await runJob(
    world,
    `printf 'a = %s\\nb = %s\\n' "$DEPLOY_API_KEY" '${base64}' > plain.txt;
     printf '%s\\n%s\\n' '${first}' '${second}' > split.txt; echo clean > clean.txt`,
    'patch',
  );
  const text = patchOf(world, evidence);
  for (const form of [SECRET, base64.slice(2, -4), second]) assert.ok(!text.includes(form), form);
  assert.match(text, /\+a = \[redacted\]\n\+b = \S*\[redacted\]/);
  assert.match(text, /\+clean\n/);
  assert.doesNotMatch(text, /split\.txt/);
  assert.equal(evidence.patch?.filesOmitted, 1);
});

test('a patch has whole files within its limit, and counts the others', async (t) => {
  const world = await setup(t);
  const evidence = await runJob(
    world,
    `head -c ${PATCH_BYTES_MAX + 10} /dev/zero | tr '\\0' 'x' > large.txt; echo small > small.txt`,
    'patch',
  );
  const text = patchOf(world, evidence);
  assert.match(text, /^diff --git a\/small\.txt b\/small\.txt\n/);
  assert.doesNotMatch(text, /large\.txt/);
  assert.equal(evidence.patch?.filesOmitted, 1);
});

async function withTrouble(t: TestContext, disturb: (world: Setup) => void) {
  const world = await setup(t);
  disturb(world);
  return { world, evidence: await runJob(world, 'echo a > a.txt', 'patch') };
}

test('an upload that is refused does not block the result, which says why', async (t) => {
  const { world, evidence } = await withTrouble(t, ({ hub }) =>
    hub.refuseOnce('/uploads/create', 'LIMIT_REACHED'),
  );
  assert.deepEqual(evidence.patch, { refused: 'LIMIT_REACHED.' });
  assert.equal(world.hub.uploads.size, 0);
});

test('an upload that fails is repeated, and the result goes without it at last', async (t) => {
  const once = await withTrouble(t, ({ hub }) => hub.trouble('bytes', 503, 2));
  assert.match(patchOf(once.world, once.evidence), /\+a\n/);
  const always = await withTrouble(t, ({ hub }) => hub.trouble('bytes', 503, 100));
  assert.deepEqual(always.evidence.patch, { refused: 'The upload ended with HTTP 503.' });
});

test('a result whose answer was lost uploads its patch once', async (t) => {
  const { world, evidence } = await withTrouble(t, ({ hub }) =>
    hub.trouble('/jobs/complete', 'lose'),
  );
  assert.match(patchOf(world, evidence), /\+a\n/);
  await world.hub.until('the repetition', () => {
    const [held] = world.hub.jobs.values();
    return (held?.completions.length ?? 0) >= 2;
  });
  assert.equal(world.hub.uploads.size, 1);
});
