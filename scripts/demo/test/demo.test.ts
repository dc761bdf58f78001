import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { jobStatuses } from '@signalbox/contract';
import { browserMissing } from '../../../e2e/browser.ts';
import { startProcess } from '../../process/start-process.ts';
import { linkTokenOf, openConsole } from '../owner.ts';

const script = join(import.meta.dirname, '../../demo.ts');
/** Output comes every few seconds; two slow cores are shared with other tests. */
const PATIENCE_MS = 60_000;
/** The end of the output says why a demo failed. */
const OUTPUT_SHOWN = 1_500;

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
}

/** A person's repository of two folders. */
function makeRepository(directory: string): string {
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

/** Starts the demo on a repository; `temporary` is the only folder for its temporary files. */
function startDemo(t: TestContext, ...args: string[]) {
  return startDemoIn(t, {}, ...args);
}

function startDemoIn(t: TestContext, more: NodeJS.ProcessEnv, ...args: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-test-'));
  const repository = makeRepository(directory);
  const temporary = mkdtempSync(join(directory, 'temporary-'));
  const env = { ...process.env, TMPDIR: temporary, NO_COLOR: '1', ...more };
  const demo = startProcess(process.execPath, [script, '--repo', repository, ...args], { env });
  const exited = demo.ended.then(({ code }) => ({
    exitCode: code,
    output: `${demo.stdout}${demo.stderr}`,
  }));
  t.after(async () => {
    // Without effect unless the test has failed.
    await demo.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return { demo, repository, temporary, exited, waitFor: demo.waitFor };
}

/** Looks again and again, and gives up after some time, so that a test that fails also ends. */
async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, `it never came about that ${what}`);
    await wait(50);
  }
}

test('the demo takes a job from the queue to a commit and leaves nothing behind', async (t) => {
  const { exited, repository, temporary } = startDemo(t);
  const before = git(repository, 'for-each-ref');
  const { exitCode, output } = await exited;
  assert.equal(exitCode, 0, output);
  assert.match(output, /docs\/folders\.md \| \d+ \+/);
  assert.match(output, /names 2 folders/);
  assert.match(output, /All done in [\d.]+ s/);
  assert.deepEqual(readdirSync(temporary), []);
  assert.equal(git(repository, 'for-each-ref'), before, "the person's repository is untouched");
});

test('a folder that is no repository is refused before anything starts', async (t) => {
  const { exited, temporary } = startDemo(t, '--repo', tmpdir());
  const { exitCode, output } = await exited;
  assert.equal(exitCode, 2);
  assert.match(output, /no git repository/);
  assert.deepEqual(readdirSync(temporary), []);
});

test('a demo whose terminal is closed ends what it started', async (t) => {
  const { demo, exited, waitFor, temporary } = startDemo(t);
  await waitFor(/A hub starts/);
  for (const stream of [demo.child.stdout, demo.child.stderr]) stream?.destroy();
  demo.child.kill('SIGHUP');
  assert.equal((await exited).exitCode, 129);
  assert.deepEqual(readdirSync(temporary), []);
});

const proved = /1 question .*\n +1 answer +“docs\/folders\.md”, by Ada Novak\n +1 session +\w{8}\n/;

test('a question outlives tool, agent and hub, and is answered on a phone', {
  skip: browserMissing,
}, async (t) => {
  const { exitCode, output } = await startDemo(t, '--questions').exited;
  assert.equal(exitCode, 0, output.slice(-OUTPUT_SHOWN));
  const killed = [...output.matchAll(/kill -9 \d+ {2}(tool|agent|hub)/g)].map(([, what]) => what);
  assert.deepEqual([...new Set(killed)], ['tool', 'agent', 'hub']);
  assert.match(output, /touches Answer “docs\/folders\.md”/);
  assert.match(output, /attempt 2/);
  assert.match(output, proved);
});

test('without Chromium, the question waits for the person', async (t) => {
  const none = { SIGNALBOX_TEST_CHROMIUM: '/missing' };
  const { exited, waitFor } = startDemoIn(t, none, '--questions');
  const [, link = ''] = await waitFor(/(http\S+\/sign-in-link#token=\S+)\n/);
  const console = openConsole(new URL(link).origin);
  const { workspaces } = await console.session.signInByLink({ linkToken: linkTokenOf(link) });
  const workspaceId = workspaces[0]?.workspaceId ?? '';
  const { uncertainties } = await console.uncertainties.list({ workspaceId, status: 'open' });
  const uncertaintyId = uncertainties[0]?.uncertaintyId ?? '';
  const answer = { mode: 'answered', value: 'docs/folders.md', confidence: 1 } as const;
  await console.uncertainties.addResolution({ workspaceId, uncertaintyId, ...answer });
  const { exitCode, output } = await exited;
  assert.equal(exitCode, 0, output.slice(-OUTPUT_SHOWN));
  assert.match(output, proved);
});

test('a demo that is kept open shows jobs in every state, lives, and ends by SIGINT', async (t) => {
  const { demo, exited, waitFor, temporary } = startDemo(t, '--keep-open');
  const [, link = ''] = await waitFor(/Console +(http:\S+)[\s\S]*Ctrl-C ends the hub/);
  const url = new URL(link).origin;
  const console = openConsole(url);
  const { workspaces } = await console.session.signInByLink({ linkToken: linkTokenOf(link) });
  const workspaceId = workspaces[0]?.workspaceId ?? '';

  const { jobs } = await console.jobs.list({ workspaceId, limit: 200 });
  const statuses = new Set(jobs.map(({ status }) => status));
  assert.deepEqual([...statuses].toSorted(), [...jobStatuses].toSorted());
  const unusual = jobs.filter(({ jobId }) => !/^job_[a-z0-9]+$/.test(jobId));
  assert.deepEqual(unusual, [], 'ids are of whole milliseconds');
  const days = new Set(jobs.map(({ createdAt }) => createdAt.slice(0, 10)));
  assert.ok(days.size >= 14, `the jobs are of ${days.size} days`);
  assert.ok(new Set(jobs.map(({ createdBy }) => createdBy.name)).size >= 3, 'three people');
  const details = await Promise.all(
    jobs.map(({ jobId }) => console.jobs.get({ workspaceId, jobId })),
  );
  const reasons = details.flatMap(({ job, waitingFor }) =>
    job.status === 'pending' ? [waitingFor?.reason ?? 'none'] : [],
  );
  assert.deepEqual([...new Set(reasons)].toSorted(), [
    'agents_at_capacity',
    'concurrency_key',
    'dependencies',
    'no_agent_with_capabilities',
    'not_yet_available',
  ]);
  for (const { jobId } of jobs.filter(({ status }) => status === 'running')) {
    const read = { workspaceId, jobId };
    const { nextAfter: after } = await console.jobEvents.listForJob(read);
    await waitUntil('a running job prints more', async () => {
      const { events } = await console.jobEvents.listForJob({ ...read, after });
      return events.some(({ kind }) => kind === 'log');
    });
  }
  const asked = details.find(({ job }) => job.prompt.includes('wallets'))?.job;
  const uncertaintyId = asked?.waitingOnUncertaintyId ?? '';
  const resolution = { mode: 'answered', value: 'The Payment Request API', confidence: 1 } as const;
  await console.uncertainties.addResolution({ workspaceId, uncertaintyId, ...resolution });
  await waitUntil('the job that asked continues', async () => {
    const { job } = await console.jobs.get({ workspaceId, jobId: asked?.jobId ?? '' });
    return job.status === 'running';
  });

  demo.child.kill('SIGINT');
  const { exitCode, output } = await exited;
  assert.equal(exitCode, 0, output);
  assert.match(output, /Everything is deleted\.\n$/);
  await assert.rejects(fetch(`${url}/health`), 'the hub has ended');
  assert.deepEqual(readdirSync(temporary), []);
});
