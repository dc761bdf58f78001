import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import {
  clientOf,
  configFlag,
  enqueueJob,
  git,
  type HubPlace,
  linkClone,
  makeClone,
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

const commit = 'echo changed >> README.md && git commit --quiet --all --message Change';

const enqueue = (prompt: string, more: { maxAttempts?: number } = {}) =>
  enqueueJob(place, repoId, prompt, more);

async function readJob(jobId: string) {
  const { workspaceId } = place;
  return (await clientOf(place).jobs.get({ workspaceId, jobId })).job;
}

test('an agent runs one job and exits with its outcome; the commit is in the clone', async () => {
  const jobId = await enqueue('Change the README.');
  const args = ['agent', 'start', '--once', '--tool', `cat; ${commit}`, '--name', 'one-shot'];
  const { exitCode, stdout, stderr } = await place.run(args);
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stdout, /Agent +one-shot/);
  assert.match(stdout, /“Change the README\.”/);
  const job = await readJob(jobId);
  assert.equal(job.status, 'done');
  assert.ok(job.evidence?.commitSha);
  assert.deepEqual(job.evidence.changedFiles, ['README.md']);
  assert.equal(
    git(clone, 'show', '--name-only', '--format=%s', job.evidence.commitSha),
    'Change\n\nREADME.md',
  );
  const shown = await place.run(['job', jobId]);
  assert.match(shown.stdout, /│ Change the README\./);
  assert.match(shown.stdout, /claimed +by one-shot, attempt 1/);
});

test('an agent runs checks, and the job and the list say what they proved', async () => {
  const verified = await enqueue('Change it.');
  const args = ['agent', 'start', '--once', '--tool', commit];
  const proof = await place.run([...args, '--check', 'grep changed README.md']);
  assert.equal(proof.exitCode, exitCodes.ok, proof.stderr);
  assert.match(proof.stdout, /commit [0-9a-f]{10} · verified/);
  const gaps = await enqueue('Change it again.');
  const { stdout } = await place.run([...args, '--check', 'true', '--check', 'exit 7']);
  assert.match(stdout, / · has gaps/);
  const shown = (await place.run(['job', gaps])).stdout;
  assert.match(shown, /Verdict +has gaps\n/);
  assert.match(shown, /✔ true +passed in /);
  assert.match(shown, /✖ exit 7 +failed, exit 7 in /);
  assert.doesNotMatch(shown, /! Check exit 7/, 'the line of the check says it');
  const list = (await place.run(['jobs'])).stdout;
  assert.match(list, new RegExp(`✔ has gaps +${gaps.slice(-8)}`));
  assert.match(list, new RegExp(`✔ done +${verified.slice(-8)}`));
  assert.equal((await readJob(verified)).verdict, 'verified');
  const empty = await place.run([...args, '--check', ' ']);
  assert.equal(empty.exitCode, exitCodes.usage);
});

test('an agent says that set-up comes from the repository, and which mistake a commit has', async () => {
  const file = join(clone, '.signalbox/setup.json');
  await mkdir(dirname(file));
  const settings = { setup: { from: 'repository' }, tool: { name: 'cat set-up' } };
  const args = ['agent', 'start', '--once', ...configFlag(place, settings)];
  const commit = async (text: string) => {
    await writeFile(file, text);
    git(clone, 'add', '.');
    git(clone, 'commit', '--quiet', '-m', 'Set-up');
  };
  await commit('{"run": "echo ready > set-up"}');
  const jobId = await enqueue('Set it up.');
  const { exitCode, stdout, stderr } = await place.run(args);
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stdout, /Set-up +.* {2}by \.signalbox\/setup\.json of its commits/);
  assert.match((await place.run(['job', jobId])).stdout, /│ ready/);
  await commit('{"run": "make", "copy": [".env"]}');
  const wrong = await enqueue('Set it up again.', { maxAttempts: 1 });
  await place.run(args);
  const shown = await place.run(['job', 'log', wrong]);
  assert.match(shown.stdout, /setup\.json:1: copy is not a key here/);
  await clientOf(place).jobs.cancel({ workspaceId: place.workspaceId, jobId: wrong });
  git(clone, 'rm', '--quiet', '-r', '.signalbox');
  git(clone, 'commit', '--quiet', '-m', 'Without set-up');
});

test('with --json an agent prints one line per event', async () => {
  const jobId = await enqueue('Say nothing.');
  const args = ['agent', 'start', '--once', '--tool', 'true', '--json'];
  const { exitCode, stdout } = await place.run(args);
  assert.equal(exitCode, exitCodes.ok);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const types = events.map(({ type }) => type);
  for (const type of ['online', 'job-claimed', 'job-finished', 'result-accepted', 'offline']) {
    assert.ok(types.includes(type), type);
  }
  assert.equal(events.find(({ type }) => type === 'job-claimed').job.jobId, jobId);
});

test('an agent exits with 1 when its only job fails', async () => {
  await enqueue('Fail.', { maxAttempts: 1 });
  const { exitCode } = await place.run(['agent', 'start', '--once', '--tool', 'exit 3']);
  assert.equal(exitCode, exitCodes.failed);
});

test('enqueue --wait shows the timeline and exits with the outcome', async () => {
  const line = 'read -r order; echo "order: $order"; test "$order" = good';
  const agent = place.start(['agent', 'start', '--tool', line]);
  await agent.says(/online/);
  const good = await place.run(['enqueue', 'good', '--wait'], { cwd: clone });
  assert.equal(good.exitCode, exitCodes.ok, good.stderr);
  assert.match(good.stdout, /│ order: good/);
  assert.match(good.stdout, /✔ done in/);
  const bad = await place.run(['enqueue', 'bad', '--wait', '--json'], { cwd: clone });
  assert.equal(bad.exitCode, exitCodes.failed);
  const lines = bad.stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  assert.equal(lines.at(-1).job.status, 'failed');
  assert.ok(lines.slice(0, -1).every(({ event }) => typeof event.seq === 'number'));
  agent.child.kill('SIGTERM');
  assert.equal((await agent.ended).exitCode, exitCodes.ok);
});

test('SIGTERM lets an agent finish its job', async () => {
  const jobId = await enqueue('Take your time.');
  const gate = join(place.directory, 'gate');
  execFileSync('mkfifo', [gate]);
  const agent = place.start(['agent', 'start', '--tool', `read -r word < '${gate}'`]);
  await agent.says(/▶/);
  agent.child.kill('SIGTERM');
  await agent.says(/accepting no more jobs/);
  await writeFile(gate, 'go\n');
  const { exitCode, stdout } = await agent.ended;
  assert.equal(exitCode, exitCodes.ok, stdout);
  assert.equal((await readJob(jobId)).status, 'done');
});

test('a second Ctrl-C returns the job to the queue and stops the agent', async () => {
  const jobId = await enqueue('Never ends.');
  const agent = place.start(['agent', 'start', '--tool', 'exec sleep 600']);
  await agent.says(/▶/);
  agent.child.kill('SIGINT');
  await agent.says(/accepting no more jobs/);
  agent.child.kill('SIGINT');
  const { exitCode } = await agent.ended;
  assert.equal(exitCode, exitCodes.interrupted);
  assert.equal((await readJob(jobId)).status, 'pending');
});

test('an agent without a linked clone, or without a tool, explains how to continue', async () => {
  const elsewhere = { SIGNALBOX_CONFIG_DIR: join(place.directory, 'nothing') };
  const args = ['agent', 'start', '--tool', 'true'];
  const unlinked = await place.run(args, { env: elsewhere });
  assert.equal(unlinked.exitCode, exitCodes.usage);
  assert.match(unlinked.stderr, /signalbox repo link/);
  const toolless = await place.run(['agent', 'start', '--tool', 'claude'], {
    env: { PATH: place.directory },
  });
  assert.equal(toolless.exitCode, exitCodes.usage);
  assert.match(toolless.stderr, /EXECUTOR_MISSING/);
});

test('the configuration file gives the repository its tool, and a wrong one names its line', async () => {
  const file = join(place.directory, 'agent.yaml');
  const lines = ['name: configured', 'repositories:', `  - path: ${clone}`];
  lines.push('    tool: {name: echo "$GREETING"}', '    environment: {GREETING: from the file}');
  await writeFile(file, lines.join('\n'));
  await enqueue('Greet.');
  const { exitCode, stdout, stderr } = await place.run([
    ...['agent', 'start', '--once', '--config', file],
  ]);
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stdout, /Agent +configured\n/);
  assert.match(stdout, new RegExp(`Configuration +${file}\n`));
  assert.match(stdout, /\n +from the file\n/);
  await writeFile(file, `repositories:\n  - path: ${place.directory}`);
  const wrong = await place.run(['agent', 'start', '--once', '--config', file]);
  assert.equal(wrong.exitCode, exitCodes.usage);
  assert.ok(wrong.stderr.includes(`${file}:2: `), wrong.stderr);
});

test('after a new origin and a new link, jobs and agents take a clone for the same repository', async () => {
  const moved = makeClone(place, 'moved');
  const before = await linkClone(place, moved);
  git(moved, 'remote', 'set-url', 'origin', 'git@git.acme.test:acme/renamed.git');
  const args = ['agent', 'start', '--once', '--repo', moved, '--tool', 'true'];
  const stale = await place.run(args);
  assert.equal(stale.exitCode, exitCodes.refused, stale.stderr);
  assert.match(stale.stderr, /REPO_NOT_LINKED/);
  const now = await linkClone(place, moved);
  assert.notEqual(now, before);
  const enqueued = await place.run(['enqueue', 'Do it.', '--repo', moved, '--json']);
  const { jobId, job } = JSON.parse(enqueued.stdout);
  assert.equal(job.repoId, now);
  const { exitCode, stderr } = await place.run(args);
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.equal((await readJob(jobId)).status, 'done');
});

test('the log of an agent says how a job ended once, in words that fit what the hub made of it', async () => {
  const lines = (stdout: string) => stdout.replaceAll(/^[\d:]+ {2}| in \d+s/gm, '').split('\n');
  const other = makeClone(place, 'ending');
  const otherId = await linkClone(place, other);
  const failing = await enqueueJob(place, otherId, 'Fail twice.', { maxAttempts: 2 });
  const args = ['agent', 'start', '--once', '--repo', other, '--tool'];
  const id = failing.slice(-8);
  const reason = JSON.stringify({
    category: 'execution',
    code: 'busy',
    retryable: true,
    recommendedDelayMs: 1,
  });
  const result = `{"outcome":"failed","outcomeReason":${reason},"message":"Busy."}`;
  const retried = `echo '${result}' > "$SIGNALBOX_RESULT_FILE"`;
  const first = lines((await place.run([...args, retried])).stdout);
  const about = first.filter((line) => line.includes(id) && !line.startsWith('▶'));
  assert.deepEqual(about, [`↻ ${id}  failed, returned to the queue`], first.join('\n'));
  const second = lines((await place.run([...args, 'exit 3'])).stdout);
  assert.deepEqual(
    second.filter((line) => line.includes(id) && !line.startsWith('▶')),
    [`✖ ${id}  failed`],
  );
  const idle = await enqueueJob(place, otherId, 'Change nothing.');
  const text = '## Done\\n\\nI read **the files**:\\n\\n| file | lines |';
  const report = `printf '%s' '{"outcome":"done","message":"${text}"}' > "$SIGNALBOX_RESULT_FILE"`;
  const done = lines((await place.run([...args, report])).stdout);
  const at = done.indexOf(`✔ ${idle.slice(-8)}  done · no changes`);
  assert.equal(done[at + 1]?.trim(), 'I read the files:', done.join('\n'));
  const shown = (await place.run(['job', idle])).stdout;
  assert.match(shown, /\nResult\n {2}Done\n\n {2}I read the files:\n\n {2}\| file \| lines \|\n/);
});
