import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AgentEvent, type AgentRepository, createCommandExecutor } from '../../src/index.ts';
import { type AcpStart, poll, setupAcp } from '../support/acp-harness.ts';
import { git, repoId as knownRepo, setup as setupFake } from '../support/harness.ts';

type Share = NonNullable<AgentRepository['shareChanges']>;

/** A real hub, and an agent that runs a shell script for each job, and stops after it. */
async function setup(t: TestContext) {
  const h = await setupAcp(t);
  const { workspaceId, clone, directory, repoId, client } = h;
  const events: AgentEvent[] = [];
  const start = (share: Share = 'on-request', options: AcpStart = {}, script = 'true') =>
    h.start({
      stateDir: join(directory, 'state'),
      executor: createCommandExecutor({ command: script }),
      repositories: [{ repoId, path: clone, shareChanges: share }],
      onEvent: (event) => events.push(event),
      ...options,
    });
  const place = async (jobId: string) =>
    (await client.jobs.get({ workspaceId, jobId })).changesPlace;
  return {
    ...h,
    events,
    start,
    place,
    /** Runs a job to its end by an agent that then stops. */
    async run(script: string, share?: Share, options?: AcpStart) {
      const agent = await start(share, options, script);
      const jobId = await h.enqueue('Do it.');
      const job = await h.until(jobId, 'done');
      await agent.stop();
      return job;
    },
    async next(of: string, script: string) {
      const agent = await start('on-request', {}, script);
      const { job } = await client.jobs.continue({ workspaceId, jobId: of, message: 'More.' });
      const done = await h.until(job.jobId, 'done');
      await agent.stop();
      return done;
    },
    ask: (jobId: string) => client.jobs.requestPatch({ workspaceId, jobId }),
    /** Starts the agent, and waits until it has answered. */
    async answer(jobId: string, share?: Share) {
      const agent = await start(share);
      const request = await poll('an answer', async () => {
        const { request: found = null } = (await place(jobId)) ?? {};
        return found === null || found.answeredAt === null ? null : found;
      });
      await agent.stop();
      return request;
    },
    patch: (jobId: string, since: 'work' | 'round' = 'work') =>
      client.jobs.patch({ workspaceId, jobId, since }),
  };
}

const namesIn = (patch: string | null) =>
  [...(patch ?? '').matchAll(/^\+\+\+ "?b\/(.*?)"?\t?$/gm)].map(([, name]) => name);

test('an agent shares the patch of a job that was asked for while it was offline', async (t) => {
  const h = await setup(t);
  const { jobId, evidence } = await h.run('echo more >> README.md');
  assert.deepEqual(evidence?.files, [{ path: 'README.md', added: 1, deleted: 0 }]);
  assert.equal(evidence?.patch, undefined);
  const { place } = await h.ask(jobId);
  assert.deepEqual([place.agent.status, place.onRequest], ['offline', true]);
  // Later commits of a person on the branch are not the result of the job.
  const worktree = join(h.directory, 'person');
  git(h.clone, 'worktree', 'add', '--quiet', worktree, String(evidence?.branch));
  git(worktree, 'mv', 'README.md', 'person.md');
  git(worktree, 'commit', '--quiet', '-m', 'By hand');
  const request = await h.answer(jobId);
  assert.equal(request.refusal, null);
  const { patch, commitSha, absence } = await h.patch(jobId);
  assert.deepEqual(
    [commitSha, absence, namesIn(patch)],
    [evidence?.commitSha, null, ['README.md']],
  );
  assert.match(patch ?? '', /@@ -1 \+1,2 @@\n hello\n\+more\n/);
  const told = h.events.filter(({ type }) => type.startsWith('patch-'));
  const askedBy = place.request?.askedBy;
  assert.deepEqual(told, [
    { type: 'patch-asked', jobId, askedBy: askedBy?.name ?? askedBy?.id },
    { type: 'patch-shared', jobId },
  ]);
});

test('a later round shares its own patch beside that of the work', async (t) => {
  const h = await setup(t);
  const first = await h.run('echo one > one.txt');
  const second = await h.next(first.jobId, 'echo two > two.txt');
  await h.ask(second.jobId);
  await h.answer(second.jobId);
  assert.deepEqual(namesIn((await h.patch(second.jobId)).patch), ['one.txt', 'two.txt']);
  assert.deepEqual(namesIn((await h.patch(second.jobId, 'round')).patch), ['two.txt']);
});

test('a job that ended under another choice is shared once its person allows it', async (t) => {
  const h = await setup(t);
  const { jobId, evidence } = await h.run('echo a > a.txt', 'names');
  assert.equal(evidence?.files, undefined);
  await assert.rejects(h.ask(jobId), /shares no changes on request: who runs it can set/);
  await (await h.start('on-request')).stop();
  await h.ask(jobId);
  await h.answer(jobId, 'patch');
  assert.deepEqual(namesIn((await h.patch(jobId)).patch), ['a.txt']);
});

test('files with a secret that only the job knew stay on the machine, in later rounds too', async (t) => {
  const h = await setup(t);
  const hooksDir = join(h.directory, 'hooks');
  mkdirSync(hooksDir);
  writeFileSync(join(hooksDir, 'environment'), 'export BUILD_TOKEN=only-for-this-job');
  chmodSync(join(hooksDir, 'environment'), 0o755);
  const script = 'echo $BUILD_TOKEN > "prüf datei.txt"; echo $BUILD_TOKEN > plain.txt; echo b > b';
  const first = await h.run(script, 'on-request', { hooksDir });
  const { jobId } = await h.next(first.jobId, 'echo c > c');
  for (const each of [first.jobId, jobId]) {
    await h.ask(each);
    await h.answer(each);
  }
  const [early, late] = [await h.patch(first.jobId), await h.patch(jobId)];
  assert.deepEqual([namesIn(early.patch), early.filesOmitted], [['b'], 2]);
  assert.deepEqual([namesIn(late.patch), late.filesOmitted], [['b', 'c'], 2]);
});

test('work that a person has deleted is refused with the reason', async (t) => {
  const h = await setup(t);
  const { jobId, evidence } = await h.run('echo a > a.txt');
  git(h.clone, 'branch', '--quiet', '-D', String(evidence?.branch));
  git(h.clone, '-c', 'gc.reflogExpire=now', 'gc', '--quiet', '--prune=now');
  const mirrors = join(h.directory, 'state', 'mirrors');
  for (const name of await readdir(mirrors)) await rm(join(mirrors, name), { recursive: true });
  await h.ask(jobId);
  const { refusal } = await h.answer(jobId);
  assert.equal(refusal, 'The commit is not in the clone any more.');
  assert.equal((await h.patch(jobId)).absence, 'not_shared');
});

test('a hub gets no patch that the agent may not share, or that is not of one of its jobs', async (t) => {
  const world = await setupFake(t);
  const held = world.hub.enqueue({ repoId: knownRepo });
  await world.start('echo a > a.txt');
  await world.hub.until('a result', () => held.accepted !== null, 60_000);
  const answers = () => world.hub.calls.filter(({ path }) => path.endsWith('/jobs/share-patch'));
  const { jobId } = held.job;
  world.hub.commands = [
    { command: 'share-patch', jobId, askedByName: 'Eve' },
    { command: 'share-patch', jobId: 'job_other', askedByName: 'Eve' },
  ];
  await world.hub.until('two answers', () => answers().length === 2, 60_000);
  assert.deepEqual(
    answers().map(({ body }) => [body.jobId, body.refusal, body.patch]),
    [
      [jobId, 'The agent shares no changes of this repository on request.', undefined],
      ['job_other', 'The agent has no record of the commits of this job any more.', undefined],
    ],
  );
  assert.equal(world.hub.uploads.size, 0);
});

test('an upload that fails is tried again with the next heartbeat, and refused at last', async (t) => {
  const world = await setupFake(t);
  world.hub.intervalMs = 500;
  const held = world.hub.enqueue({ repoId: knownRepo });
  await world.start('echo a > a.txt', {
    repositories: [{ repoId: knownRepo, path: world.clone, shareChanges: 'on-request' }],
  });
  await world.hub.until('a result', () => held.accepted !== null, 60_000);
  const { jobId } = held.job;
  const ask = () => {
    world.hub.commands = [{ command: 'share-patch', jobId, askedByName: 'Ada' }];
  };
  const creates = () => world.hub.calls.filter(({ path }) => path.endsWith('/uploads/create'));
  const answered = () => world.hub.calls.find(({ path }) => path.endsWith('/jobs/share-patch'));
  world.hub.trouble('bytes', 503, 100);
  for (const count of [1, 2, 3]) {
    ask();
    await world.hub.until(`upload ${count}`, () => creates().length === count, 60_000);
  }
  await world.hub.until('the answer', () => answered() !== undefined, 60_000);
  assert.equal(answered()?.body.refusal, 'The upload ended with HTTP 503.');
  assert.equal(world.events.filter(({ type }) => type === 'patch-asked').length, 1);
  assert.equal(Object(creates()[0]?.body.job).claimGeneration, undefined);
});
