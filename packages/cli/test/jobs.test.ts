import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { commandFile, exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, startHub, useServiceToken } from './harness.ts';

let place: HubPlace;
let clone: string;
before(async () => {
  place = await startHub();
  await useServiceToken(place);
  clone = makeClone(place, 'api');
});
after(async () => await place.end());

const escapeCode = '\u001b';
const ansi = new RegExp(`${escapeCode}\\[`);

async function json(args: readonly string[], input?: string) {
  const options = { cwd: clone, ...(input === undefined ? {} : { input }) };
  const { stdout, stderr, exitCode } = await place.run([...args, '--json'], options);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

test('a repository must be linked before its jobs can be enqueued', async () => {
  const { exitCode, stderr } = await place.run(['enqueue', 'x'], { cwd: clone });
  assert.equal(exitCode, exitCodes.refused);
  assert.match(stderr, /REPO_NOT_LINKED/);
  assert.match(stderr, /signalbox repo link/);
});

test('repo link sends the hub a hash and a label, and stores the path on this machine', async () => {
  const linked = await json(['repo', 'link', '.']);
  assert.equal(linked.created, true);
  assert.equal(linked.repo.label, 'acme/api');
  assert.match(linked.repo.remoteUrlHash, /^[0-9a-f]{64}$/);
  const again = await json(['repo', 'link', '.']);
  assert.equal(again.created, false);
  const { repos } = await json(['repo', 'list']);
  assert.deepEqual(
    repos.map(({ repoId, path }: { repoId: string; path: string }) => ({ repoId, path })),
    [{ repoId: linked.repo.repoId, path: clone }],
  );
});

test('linking again keeps the label that a person chose', async () => {
  assert.equal((await json(['repo', 'link', '.', '--label', 'The API'])).repo.label, 'The API');
  assert.equal((await json(['repo', 'link', '.'])).repo.label, 'The API');
});

test('a prompt is read from standard input with a dash and from a pipe', async () => {
  const dashed = await json(['enqueue', '-'], 'Fix the build.\nThen rest.\n');
  assert.equal(dashed.job.prompt, 'Fix the build.\nThen rest.');
  assert.equal((await json(['enqueue'], 'Piped')).job.prompt, 'Piped');
});

test('every option of enqueue reaches the job', async () => {
  const first = await json(['enqueue', 'First']);
  const id = first.jobId.slice(-8);
  const args = ['--kind', 'pr_review', '--role', 'reviewer', '--priority', '-5'];
  const more = ['--requirements', '{"labels":{"os":"linux"}}', '--concurrency-key', 'deploy'];
  const rest = ['--max-attempts', '2', '--delay', '1h30m', '--depends-on', id];
  const { job } = await json(['enqueue', 'Second', ...args, ...more, ...rest]);
  assert.equal(job.kind, 'pr_review');
  assert.equal(job.role, 'reviewer');
  assert.equal(job.priority, -5);
  assert.deepEqual(job.requirements, { labels: { os: 'linux' } });
  assert.equal(job.concurrencyKey, 'deploy');
  assert.equal(job.maxAttempts, 2);
  assert.deepEqual(job.dependsOn, [first.jobId]);
  assert.equal(Date.parse(job.availableAt) - Date.parse(job.createdAt), 5_400_000);
});

test('a base is a job, or else a branch, and the page of the job says which', async () => {
  const first = await json(['enqueue', 'First', '--base', 'release/1.x', '--time-limit', '30m']);
  assert.deepEqual([first.job.base, first.job.budget], ['release/1.x', { timeLimitMs: 1_800_000 }]);
  const { job } = await json(['enqueue', 'Second', '--base', first.jobId.slice(-8)]);
  assert.deepEqual(
    [job.base, job.baseBranch, job.dependsOn],
    [first.jobId, 'release/1.x', [first.jobId]],
  );
  const shown = async (id: string) => (await place.run(['job', id])).stdout;
  assert.match(await shown(first.jobId), /^Builds on +release\/1\.x$/m);
  assert.match(
    await shown(job.jobId),
    new RegExp(`^Builds on +job ${first.jobId.slice(-8)}$`, 'm'),
  );
});

test('the same key enqueues the same job once', async () => {
  const first = await json(['enqueue', 'Keyed', '--key', 'k1']);
  const second = await json(['enqueue', 'Keyed', '--key', 'k1']);
  assert.equal(second.jobId, first.jobId);
  assert.equal(second.idempotent, true);
  const other = await place.run(['enqueue', 'Other', '--key', 'k1'], { cwd: clone });
  assert.equal(other.exitCode, exitCodes.refused);
  assert.match(other.stderr, /IDEMPOTENCY_CONFLICT/);
});

test('an empty, binary or oversized prompt or an invalid option is a usage error', async () => {
  for (const [args, input] of [
    [['enqueue', ' '], undefined],
    [['enqueue', '-'], '\n'],
    [['enqueue', '-'], Buffer.from([0xff, 0xfe, 0x00])],
    [['enqueue', '-'], 'x'.repeat(200_001)],
    [['enqueue', '-'], 'x'.repeat(262_145)],
    [['enqueue', 'x', '--requirements', '{"labels":'], undefined],
    [['enqueue', 'x', '--delay', '10'], undefined],
    [['enqueue', 'x', '--kind', 'wrok'], undefined],
  ] as const) {
    const { exitCode, stderr, stdout } = await place.run(args, {
      cwd: clone,
      ...(input === undefined ? {} : { input }),
    });
    assert.equal(exitCode, exitCodes.usage, args.join(' '));
    assert.equal(stdout, '');
    assert.match(stderr, /^✖ /);
  }
});

test('jobs prints one JSON document, complete with --all', async () => {
  const { jobs, nextCursor } = await json(['jobs', '--limit', '2']);
  assert.equal(jobs.length, 2);
  assert.equal(typeof nextCursor, 'string');
  const all = await json(['jobs', '--all']);
  assert.ok(all.jobs.length > 2);
  assert.equal(all.nextCursor, null);
  const { jobs: reviews } = await json(['jobs', '--kind', 'pr_review']);
  assert.deepEqual(
    reviews.map(({ kind }: { kind: string }) => kind),
    ['pr_review'],
  );
});

test('jobs lists summaries, filtered by statuses, text and time', async () => {
  const { jobId } = await json(['enqueue', '-'], 'Repair the GATE\nThe whole story.');
  const found = await json(['jobs', '--search', 'the gate', '--status', 'pending,running']);
  assert.equal(found.jobs.length, 1);
  assert.deepEqual([found.jobs[0].jobId, found.jobs[0].title], [jobId, 'Repair the GATE']);
  assert.equal('prompt' in found.jobs[0], false);
  const whole = await json(['jobs', '--search', 'the gate', '--since', '1h', '--whole']);
  assert.equal(whole.jobs[0].prompt, 'Repair the GATE\nThe whole story.');
  assert.deepEqual((await json(['jobs', '--search', 'the whole story'])).jobs[0].jobId, jobId);
  assert.deepEqual((await json(['jobs', '--search-log', 'the gate'])).jobs, []);
  assert.deepEqual((await json(['jobs', '--status', 'done,failed'])).jobs, []);
  const { exitCode, stderr } = await place.run(['jobs', '--status', 'pending,runing']);
  assert.equal(exitCode, exitCodes.usage);
  assert.match(stderr, /not "runing"/);
});

test('a pipe gets neither colours nor a spinner, unless colours are forced', async () => {
  const plain = await place.run(['jobs']);
  assert.doesNotMatch(plain.stdout + plain.stderr, ansi);
  assert.match(plain.stdout, /^STATUS +JOB +KIND +TITLE/);
  assert.match(plain.stdout, /○ pending/);
  const forced = await place.run(['jobs'], { env: { FORCE_COLOR: '1' } });
  assert.match(forced.stdout, ansi);
  const refused = await place.run(['jobs'], { env: { NO_COLOR: '1' } });
  assert.equal(refused.stdout.split('\n')[0], plain.stdout.split('\n')[0]);
});

test('the text of a prompt cannot control the terminal', async () => {
  const prompt = `red ${escapeCode}[31m, bell \u0007, title ${escapeCode}]0;x\u0007, back\u202e`;
  const { jobId } = await json(['enqueue', '-'], prompt);
  for (const args of [['jobs'], ['job', jobId]]) {
    const { stdout } = await place.run(args);
    assert.ok(stdout.includes('red , bell'), stdout);
    for (const unsafe of [escapeCode, '\u0007', '\u202e']) assert.ok(!stdout.includes(unsafe));
  }
});

test('a job is found by the end of its ID and shows what it waits for', async () => {
  const { jobId } = await json(['enqueue', 'Find me']);
  const { job, waitingFor, events } = await json(['job', jobId.slice(-8)]);
  assert.equal(job.jobId, jobId);
  assert.equal(waitingFor.reason, 'no_agent_serves_repository');
  assert.deepEqual(
    events.map(({ kind }: { kind: string }) => kind),
    ['enqueued'],
  );
  const shown = await place.run(['job', jobId.slice(-8)]);
  assert.match(shown.stdout, /Find me/);
  assert.match(shown.stdout, /Waits: /);
  assert.match(shown.stdout, /enqueued/);
});

test('an unknown job is an error with a code and the request ID', async () => {
  const id = `job_${'0'.repeat(32)}`;
  const { exitCode, stderr } = await place.run(['job', id, '--json']);
  assert.equal(exitCode, exitCodes.refused);
  const failure = JSON.parse(stderr);
  assert.equal(failure.error, 'JOB_NOT_FOUND');
  assert.match(failure.requestId, /^req_/);
  assert.equal(failure.exitCode, exitCodes.refused);
  assert.equal((await place.run(['job', 'ffffffff'])).exitCode, exitCodes.refused);
});

test('waiting for a job ends at the timeout', async () => {
  const args = ['enqueue', 'Unclaimed', '--wait', '--timeout', '300ms'];
  const { exitCode, stderr } = await place.run(args, { cwd: clone });
  assert.equal(exitCode, exitCodes.failed);
  assert.match(stderr, /WAIT_TIMEOUT/);
});

test('an unreachable hub has its own exit code', async () => {
  const { exitCode, stderr } = await place.run(['whoami'], {
    env: { SIGNALBOX_URL: 'http://127.0.0.1:1' },
  });
  assert.equal(exitCode, exitCodes.unreachable);
  assert.match(stderr, /HUB_UNREACHABLE/);
});

test('the command exits silently when its output is closed early', async () => {
  const child = spawn(process.execPath, [commandFile, 'jobs', '--all'], {
    env: place.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdout.destroy();
  const [exitCode] = await once(child, 'close');
  assert.equal(stderr, '');
  assert.equal(exitCode, exitCodes.outputClosed);
});
