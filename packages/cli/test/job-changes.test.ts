import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createClient } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, startHub } from './harness.ts';

/*
 * The hub runs without authentication, so the command acts as the operator, who may release jobs.
 * Programs may not.
 */
let place: HubPlace;
let clone: string;
let workspaceId: string;
let repoId: string;
before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  clone = makeClone(place, 'api');
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  place.env.TMPDIR = place.directory;
  ({ workspaceId, repoId } = (await json(['repo', 'link', '.'])).repo);
});
after(async () => await place.end());

const client = () => createClient({ baseUrl: place.url });

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, input?: string) {
  const options = input === undefined ? {} : { input };
  return await place.run(args, { cwd: clone, env, ...options });
}

async function json(args: readonly string[]) {
  const { stdout, stderr, exitCode } = await run([...args, '--json']);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

const enqueue = async (prompt: string): Promise<string> => {
  const job = { workspaceId, repoId, kind: 'work', prompt, maxAttempts: 1 } as const;
  return (await client().jobs.enqueue(job)).jobId;
};

const readJob = async (jobId: string) => (await client().jobs.get({ workspaceId, jobId })).job;

/** Claims the oldest job and returns what a completion needs. */
async function claim() {
  const { agentId } = await client().agents.heartbeat({
    workspaceId,
    machineFingerprint: 'build-7',
    displayName: 'build-7',
    capabilities: { canWrite: true, reposAllowed: [repoId] },
  });
  const { jobId } = await client().jobs.claimNext({ workspaceId, agentId });
  assert.ok(jobId);
  return { workspaceId, agentId, jobId };
}

/** Enqueues a job that fails. */
async function failedJob(prompt: string): Promise<string> {
  const jobId = await enqueue(prompt);
  const claimed = await claim();
  assert.equal(claimed.jobId, jobId);
  await client().jobs.complete({ ...claimed, outcome: 'failed', message: 'No.' });
  return jobId;
}

/** Writes an editor, as a script that gets the file as $1. */
function makeEditor(script: string): string {
  const file = join(place.directory, 'editor.sh');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const keptDrafts = () =>
  readdirSync(place.directory).filter((name) => name.startsWith('signalbox-edit-'));

test('job cancel cancels several jobs by the ends of their IDs, with one line for each', async () => {
  const ids = [await enqueue('One'), await enqueue('Two')];
  const [first = '', second = ''] = ids;
  const { stdout, exitCode } = await run(['job', 'cancel', first.slice(-8), second]);
  assert.equal(exitCode, exitCodes.ok);
  assert.equal(stdout, ids.map((id) => `✔ ${id.slice(-8)}  canceled\n`).join(''));
  for (const id of ids) assert.equal((await readJob(id)).status, 'canceled');
  const again = await json(['job', 'cancel', first]);
  assert.deepEqual(again, {
    ok: true,
    results: [{ jobId: first, result: 'unchanged', status: 'canceled' }],
  });
});

test('a job that refuses does not prevent the change of others, and the exit code is 4', async () => {
  const failed = await failedJob('Fails');
  const pending = await enqueue('Waits');
  const { stdout, stderr, exitCode } = await run(['job', 'cancel', failed, pending]);
  assert.equal(exitCode, exitCodes.refused);
  assert.equal(stdout, `✔ ${pending.slice(-8)}  canceled\n`);
  assert.match(stderr, new RegExp(`✖ ${failed.slice(-8)}  .*JOB_ALREADY_FINISHED`));
  assert.match(stderr, new RegExp(`Fix  .*signalbox job ${failed.slice(-8)}\n`));
  const asJson = await run(['job', 'cancel', failed, '--json']);
  assert.equal(asJson.exitCode, exitCodes.refused);
  const { ok, results } = JSON.parse(asJson.stdout);
  assert.deepEqual([ok, results[0].error], [false, 'JOB_ALREADY_FINISHED']);
});

test('one unknown ID changes no job', async () => {
  const jobId = await enqueue('Stays');
  const { exitCode, stderr } = await run(['job', 'cancel', jobId, 'ffffffff']);
  assert.equal(exitCode, exitCodes.refused);
  assert.match(stderr, /JOB_NOT_FOUND/);
  assert.equal((await readJob(jobId)).status, 'pending');
  await client().jobs.cancel({ workspaceId, jobId });
});

test('job release takes a running job from its agent', async () => {
  const jobId = await enqueue('Stuck');
  const held = await claim();
  assert.equal(held.jobId, jobId);
  const released = await run(['job', 'release', jobId, '--reason', 'Off']);
  assert.equal(released.exitCode, exitCodes.ok, released.stderr);
  assert.match(released.stdout, /taken from its agent/);
  assert.notEqual((await readJob(jobId)).status, 'running');
  const again = await run(['job', 'release', jobId]);
  assert.equal(again.exitCode, exitCodes.refused);
  assert.match(again.stderr, /JOB_NOT_RUNNING/);
  await run(['job', 'cancel', jobId]);
});

test('job retry puts a failed job back, as it was or with another prompt', async () => {
  const jobId = await failedJob('First prompt');
  assert.match((await run(['job', 'retry', jobId])).stdout, /retried \(○ pending\)/);
  await client().jobs.complete({ ...(await claim()), outcome: 'failed' });
  const piped = await run(['job', 'retry', jobId, '--prompt', '-'], {}, 'From a pipe.\n');
  assert.equal(piped.exitCode, exitCodes.ok, piped.stderr);
  assert.equal((await readJob(jobId)).prompt, 'From a pipe.');
  await client().jobs.cancel({ workspaceId, jobId });
});

test('job retry --tool enqueues a job that is done once more, for that tool', async () => {
  const wish = { kind: 'work', prompt: 'Once more', priority: 900, role: 'x' } as const;
  const { jobId } = await client().jobs.enqueue({
    workspaceId,
    repoId,
    ...wish,
    budget: { costUsd: 2 },
  });
  await client().jobs.complete({ ...(await claim()), outcome: 'done' });
  const again = await json(['job', 'retry', jobId, '--tool', 'codex', '--model', 'gpt-5.5']);
  assert.notEqual(again.jobId, jobId);
  const { requirements, prompt, priority, role, budget } = await readJob(again.jobId);
  assert.deepEqual({ prompt, priority, role, kind: 'work' }, wish);
  assert.deepEqual(requirements, { tool: 'codex', model: 'gpt-5.5' });
  assert.deepEqual(budget, { costUsd: 2 });
  assert.equal((await readJob(jobId)).status, 'done');
  const told = await run(['job', 'retry', jobId, '--tool', 'claude']);
  assert.match(told.stdout, /Enqueued job_\S+; \S+ stays done/);
  const bare = await run(['job', 'retry', jobId]);
  assert.equal(bare.exitCode, exitCodes.refused, bare.stderr);
  for (const tool of ['codex', 'claude']) {
    const { jobs } = await client().jobs.list({
      workspaceId,
      text: 'Once more',
      status: 'pending',
    });
    const made = jobs.find((job) => job.tool === tool);
    await client().jobs.cancel({ workspaceId, jobId: made?.jobId ?? '' });
  }
});

test('job retry --edit sends what the editor leaves, and removes the file', async () => {
  const jobId = await failedJob('Add a check.');
  const editor = makeEditor('cp "$2" "$1.seen"; sed -i s/check/test/ "$2"');
  const { exitCode, stderr } = await run(['job', 'retry', jobId, '--edit'], {
    EDITOR: `${editor} ${join(place.directory, 'copy')}`,
  });
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.equal(readFileSync(join(place.directory, 'copy.seen'), 'utf8'), 'Add a check.\n');
  const job = await readJob(jobId);
  assert.deepEqual([job.status, job.prompt], ['pending', 'Add a test.']);
  assert.deepEqual(keptDrafts(), []);
  const pending = await run(['job', 'retry', jobId, '--edit'], { EDITOR: 'false' });
  assert.match(pending.stderr, /The job is pending; only failed and blocked jobs/);
  await client().jobs.cancel({ workspaceId, jobId });
});

test('a prompt that was edited and not accepted is kept, with the line that sends it', async () => {
  const jobId = await failedJob('Valuable');
  const editor = makeEditor(`head -c 200001 /dev/zero | tr '\\0' x > "$1"`);
  const { exitCode, stderr } = await run(['job', 'retry', jobId, '--edit'], { EDITOR: editor });
  assert.equal(exitCode, exitCodes.usage);
  const [, file = ''] = /--prompt - < (\S+)/.exec(stderr) ?? [];
  assert.equal(readFileSync(file, 'utf8').length, 200_001);
  const broken = await run(['job', 'retry', jobId, '--edit'], { EDITOR: 'false' });
  assert.equal(broken.exitCode, exitCodes.failed);
  assert.match(broken.stderr, /EDITOR_FAILED/);
  const none = await run(['job', 'retry', jobId, '--edit']);
  assert.match(none.stderr, /EDITOR is not set/);
  assert.equal((await readJob(jobId)).status, 'failed');
});

test('options of retry that do not go together change nothing', async () => {
  const jobId = await failedJob('Unclear');
  for (const args of [
    [jobId, jobId, '--prompt', 'x'],
    [jobId, '--edit', '--prompt', 'x'],
    [jobId, '--prompt', 'x', '--reason', 'y'],
    [jobId, '--prompt', ' '],
  ]) {
    const { exitCode, stderr } = await run(['job', 'retry', ...args]);
    assert.equal(exitCode, exitCodes.usage, args.join(' '));
    assert.match(stderr, /^✖ /);
  }
  assert.equal((await readJob(jobId)).status, 'failed');
});

/** Enqueues a job that is done. */
async function doneJob(prompt: string): Promise<string> {
  const jobId = await enqueue(prompt);
  const claimed = await claim();
  assert.equal(claimed.jobId, jobId);
  await client().jobs.complete({ ...claimed, outcome: 'done', message: 'Yes.' });
  return jobId;
}

/** Cancels the round after a job, and returns it. */
async function nextRound(jobId: string) {
  const { rounds = [] } = await client().jobs.get({ workspaceId, jobId });
  const next = rounds.at(-1);
  assert.ok(next !== undefined && next.jobId !== jobId, 'it is continued');
  await client().jobs.cancel({ workspaceId, jobId: next.jobId });
  return await readJob(next.jobId);
}

test('job continue enqueues the next round of a job that is done', async () => {
  const jobId = await doneJob('Add a list');
  const id = jobId.slice(-8);
  const tool = ['--tool', 'codex', '--model', 'gpt-5.5'];
  const { stdout, stderr, exitCode } = await run(['job', 'continue', id, 'The empty one', ...tool]);
  assert.equal(exitCode, exitCodes.ok, stderr);
  const { rounds = [] } = await client().jobs.get({ workspaceId, jobId });
  const next = rounds[1]?.jobId ?? '';
  const shortNext = next.slice(-8);
  assert.equal(stdout, `✔ Enqueued round 2: ${next}\n  signalbox job ${shortNext} --follow\n`);
  assert.match((await run(['job', next])).stdout, new RegExp(`Round +2 of 2, continues ${id}\n`));
  assert.match((await run(['job', id])).stdout, /Round +1 of 2\n/);
  const shown = await json(['job', next]);
  assert.deepEqual([shown.rounds, shown.messages], [rounds, []]);
  const again = await run(['job', 'continue', id, 'More']);
  assert.equal(again.exitCode, exitCodes.refused);
  assert.match(again.stderr, new RegExp(`continue round 2, ${next}`));
  const job = await nextRound(jobId);
  assert.equal(job.prompt, 'The empty one');
  assert.deepEqual(job.requirements, { tool: 'codex', model: 'gpt-5.5' });
});

test('the message of job continue comes from a pipe, or from the editor', async () => {
  const piped = await doneJob('Piped');
  const sent = await run(['job', 'continue', piped, '-', '--json'], {}, 'From a pipe.\n');
  assert.equal(sent.exitCode, exitCodes.ok, sent.stderr);
  const { ok, delivery, job } = JSON.parse(sent.stdout);
  assert.deepEqual([ok, delivery, job.round, job.prompt], [true, 'round', 2, 'From a pipe.']);
  assert.equal((await nextRound(piped)).jobId, job.jobId);
  const edited = await doneJob('Edited');
  const write = makeEditor(`echo 'By hand.' > "$1"`);
  const { exitCode, stderr } = await run(['job', 'continue', edited, '--edit'], { EDITOR: write });
  assert.equal(exitCode, exitCodes.ok, stderr);
  const refused = await run(['job', 'continue', edited, '--edit'], { EDITOR: write });
  assert.equal(refused.exitCode, exitCodes.refused);
  const [, file = ''] = /Send the kept message: .* --file (\S+)/.exec(refused.stderr) ?? [];
  assert.equal(readFileSync(file, 'utf8'), 'By hand.\n');
  assert.equal((await nextRound(edited)).prompt, 'By hand.');
  const empty = await run(['job', 'continue', edited, ' ']);
  assert.equal(empty.exitCode, exitCodes.usage);
});

test('enqueue --with tries a job several times, and job choose keeps one', async () => {
  const { stdout } = await run(['enqueue', 'Try it', '--repo', repoId, '--with', '3']);
  const [one = '', other = '', third = ''] = stdout.match(/job_\w+/g) ?? [];
  const short = (id: string) => id.slice(-8);
  assert.equal((await json(['job', one])).job.variantOf, one);
  const chosen = await run(['job', 'choose', short(other)]);
  const closed = `${short(one)}, ${short(third)}`;
  assert.equal(chosen.stdout, `✔ Chose ${short(other)}; closed ${closed}.\n`);
  const again = await run(['job', 'choose', one]);
  assert.equal(again.exitCode, exitCodes.refused);
  const tools = await run(['enqueue', 'By tools', '--repo', repoId, '--with', 'claude,codex']);
  const ids = tools.stdout.match(/job_\w+/g) ?? [];
  const jobs = await Promise.all(ids.map((jobId) => client().jobs.get({ workspaceId, jobId })));
  assert.deepEqual(
    jobs.map(({ job }) => job.tool),
    ['claude', 'codex'],
  );
  // No later test may get them.
  await run(['job', 'cancel', other, ...ids]);
  for (const wrong of ['1', '9', 'claude', '']) {
    const refused = await run(['enqueue', 'Wrong', '--repo', repoId, '--with', wrong]);
    assert.match(refused.stderr, /It must be 2 to 8 tools/, wrong);
  }
  const both = await run(['enqueue', 'Wrong', '--repo', repoId, '--with', '2', '--wait']);
  assert.match(both.stderr, /--wait follows one job/);
});

test('job continue leaves a message with a job that has not ended', async () => {
  const jobId = await enqueue('Takes long');
  const { stdout } = await run(['job', 'continue', jobId, 'The empty list, too']);
  const id = jobId.slice(-8);
  assert.match(stdout, new RegExp(`^✔ ${id} keeps the message: when it is done, .*next round`));
  const shown = (await run(['job', jobId])).stdout;
  assert.match(shown, /Messages\n {2}The empty list, too \(.+; waits for the next round\)\n/);
  const { messages } = await json(['job', jobId]);
  assert.deepEqual([messages.length, messages[0].state], [1, 'queued']);
  const claimed = await claim();
  assert.equal(claimed.jobId, jobId);
  // Its agent reports that the tool takes messages.
  await client().jobs.takeMessages({ ...claimed, claimGeneration: 1 });
  const taken = await run(['job', 'continue', jobId, 'And a test']);
  assert.match(taken.stdout, /its tool gets it at the end of this turn, or .*next round/);
  assert.match((await run(['job', jobId])).stdout, /And a test \(.+; waits for the end of this/);
  await client().jobs.complete({ ...claimed, outcome: 'done', messagesDelivered: [2] });
  const after = (await run(['job', jobId])).stdout;
  const next = await nextRound(jobId);
  assert.match(after, new RegExp(`list, too \\(.+; in the next round, ${next.jobId.slice(-8)}`));
  assert.match(after, /And a test \(.+; delivered .+\)\n/);
  assert.equal(next.prompt, 'The empty list, too');
});

test('job open prints the address of the page', async () => {
  const jobId = await enqueue('Look at me');
  const url = `${place.url}/w/dev/jobs/${jobId}`;
  assert.equal((await run(['job', 'open', jobId.slice(-8)])).stdout, `${url}\n`);
  assert.deepEqual(await json(['job', 'open', jobId]), { ok: true, pages: [{ jobId, url }] });
  await client().jobs.cancel({ workspaceId, jobId });
});

test('queue pause and resume act on the workspace, repo pause and resume on a repository', async () => {
  const paused = await run(['queue', 'pause', '--reason', 'Release freeze']);
  assert.equal(paused.exitCode, exitCodes.ok, paused.stderr);
  assert.match(paused.stdout, /Paused the queue of dev/);
  assert.deepEqual(await json(['repo', 'pause', '.']), {
    ok: true,
    repoId,
    paused: true,
  });
  const { pauses } = await client().queue.listPauses({ workspaceId });
  assert.deepEqual(
    pauses.map((pause) => [pause.repoId, pause.reason]),
    [
      [null, 'Release freeze'],
      [repoId, null],
    ],
  );
  const repository = await run(['repo', 'resume', repoId]);
  assert.match(repository.stdout, /Resumed repo_/);
  assert.match(repository.stderr, /whole workspace is still paused/);
  assert.deepEqual(await json(['queue', 'resume']), { ok: true, paused: false });
  assert.deepEqual((await client().queue.listPauses({ workspaceId })).pauses, []);
});

test('the subcommands of job do not hide the job itself', async () => {
  const { stdout } = await run(['help', '--all']);
  assert.match(stdout, /^ {2}job /m);
  assert.match(stdout, /^ {2}job cancel /m);
  const { stderr, exitCode } = await run(['job', 'cancel']);
  assert.equal(exitCode, exitCodes.usage);
  assert.match(stderr, /signalbox job cancel --help/);
  const tooMany = await run(['job', 'cancle', '8f3a1c2d']);
  assert.equal(tooMany.exitCode, exitCodes.usage);
  const clearEnv = { env: place.env, encoding: 'utf8' } as const;
  const help = execFileSync('signalbox', ['job', '--help'], clearEnv);
  assert.match(help, /^ {2}cancel +cancel jobs$/m);
});
