// `npm run demo -- --keep-open`: what a person finds who signs in, and how it ends.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { jobStatuses, type Uncertainty } from '@signalbox/contract';
import { type ConsoleClient, openConsole } from '../owner.ts';
import { makeRepository, startDemo } from './demo-run.ts';
import { terminalSkip } from './pseudo-terminal.ts';

interface Visitor {
  url: string;
  console: ConsoleClient;
  workspaceId: string;
}

/** Starts a demo that stays open. */
function openDemo(t: TestContext, terminal?: { columns: number }) {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-test-'));
  const args = ['--keep-open', '--repo', makeRepository(directory)];
  const demo = startDemo(directory, args, terminal);
  t.after(async () => {
    // Without effect unless the test has failed.
    demo.child.kill('SIGTERM');
    await demo.ended;
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return demo;
}

/** Signs in with what the demo has printed. */
async function signIn(printed: string): Promise<Visitor> {
  const plain = stripVTControlCharacters(printed);
  const [, url = '', slug] = /Console +(http:\S+)\/w\/(\w+)\/jobs/.exec(plain) ?? [];
  const [, email = ''] = /E-mail +(\S+)/.exec(plain) ?? [];
  const [, password = ''] = /Password +(\S+)/.exec(plain) ?? [];
  const console = openConsole(url);
  const { workspaces } = await console.session.signIn({ email, password });
  const workspace = workspaces.find((candidate) => candidate.slug === slug);
  assert.ok(workspace, 'the owner may enter the workspace of the link');
  return { url, console, workspaceId: workspace.workspaceId };
}

/** Output comes every few seconds; two slow cores are shared with other tests. */
const PATIENCE_MS = 60_000;
const isOpen = /^.*Ctrl-C ends the hub/s;

/** Looks again and again, and gives up after some time, so that a test that fails also ends. */
async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, `it never came about that ${what}`);
    await wait(50);
  }
}

async function assertIsGone(url: string, temporary: string): Promise<void> {
  await assert.rejects(fetch(`${url}/health`), 'the hub has ended');
  assert.deepEqual(readdirSync(temporary), []);
}

async function assertEveryState({ console, workspaceId }: Visitor): Promise<void> {
  const { jobs } = await console.jobs.list({ workspaceId, limit: 200 });
  assert.ok(jobs.length >= 40, `${jobs.length} jobs`);
  const seen = new Set(jobs.map(({ status }) => status));
  assert.deepEqual([...seen].toSorted(), [...jobStatuses].toSorted());
  const done = jobs.filter(({ status }) => status === 'done');
  assert.ok(done.some(({ evidence }) => evidence?.changedFiles?.length));
  assert.ok(done.some(({ evidence }) => evidence === null));
  assert.ok(done.some(({ decisions }) => decisions?.length));
  for (const job of jobs) {
    if (job.status === 'failed') assert.ok(job.outcomeReason, `no reason: ${job.prompt}`);
    if (job.status === 'blocked')
      assert.ok(job.waitingOnUncertaintyId, `no question: ${job.prompt}`);
  }
  const reasons = new Set<string>();
  for (const { jobId, status } of jobs) {
    if (status !== 'pending') continue;
    const { waitingFor } = await console.jobs.get({ workspaceId, jobId });
    reasons.add(waitingFor?.reason ?? 'none');
  }
  assert.deepEqual([...reasons].toSorted(), [
    'agents_at_capacity',
    'concurrency_key',
    'dependencies',
    'no_agent_with_capabilities',
    'not_yet_available',
  ]);
  const { repos } = await console.repositories.list({ workspaceId });
  assert.ok(repos.length >= 3);
  const { agents } = await console.agents.list({ workspaceId });
  assert.deepEqual(
    agents.map(({ displayName, status }) => `${displayName}: ${status}`).toSorted(),
    ['ada-laptop: draining', 'build-1: online', 'demo agent: offline', 'mac-mini: online'],
  );
  assert.ok((await console.runs.list({ workspaceId })).runs.length >= 2);
}

async function assertOutputGrows({ console, workspaceId }: Visitor): Promise<void> {
  const { jobs } = await console.jobs.list({ workspaceId, status: 'running' });
  assert.ok(jobs.length > 0);
  for (const { jobId } of jobs) {
    const { nextAfter } = await console.jobEvents.listForJob({ workspaceId, jobId });
    await waitUntil('a running job prints more', async () => {
      const { events } = await console.jobEvents.listForJob({
        workspaceId,
        jobId,
        after: nextAfter,
      });
      return events.some(({ kind }) => kind === 'log');
    });
  }
}

/** A person answers as recommended, and the job continues. */
async function assertAnswerCounts({ console, workspaceId }: Visitor): Promise<void> {
  const list = await console.uncertainties.list({ workspaceId, status: 'open' });
  // Whole uncertainties, because no view was asked for.
  const uncertainties = list.uncertainties as Uncertainty[];
  assert.ok(uncertainties.length >= 3);
  for (const { options, recommendedValue } of uncertainties) {
    assert.ok(options.length >= 2);
    assert.ok(options.some(({ value }) => value === recommendedValue));
  }
  const asked = uncertainties.find(({ prompt }) => prompt.includes('wallet'));
  assert.ok(asked?.jobId);
  const { uncertaintyId, jobId, recommendedValue: value } = asked;
  assert.ok(value);
  const resolution = { mode: 'answered', value, confidence: 1 } as const;
  await console.uncertainties.addResolution({ workspaceId, uncertaintyId, ...resolution });
  await waitUntil('the job that asked continues', async () => {
    const { job } = await console.jobs.get({ workspaceId, jobId });
    return job.status === 'running';
  });
}

suite('a demo that is kept open', { concurrency: true }, () => {
  test('has every state, lives, and ends by SIGINT', async (t) => {
    const demo = openDemo(t);
    const [printed] = await demo.waitFor(isOpen);
    const visitor = await signIn(printed);
    await assertEveryState(visitor);
    await assertOutputGrows(visitor);
    await assertAnswerCounts(visitor);
    demo.child.kill('SIGINT');
    const { exitCode, output, temporary } = await demo.ended;
    assert.equal(exitCode, 0, output);
    assert.match(output, /Everything is deleted\.\n$/);
    await assertIsGone(visitor.url, temporary);
  });

  test('ends by Ctrl-C in its terminal', { skip: terminalSkip }, async (t) => {
    const demo = openDemo(t, { columns: 80 });
    const { url } = await signIn((await demo.waitFor(isOpen))[0]);
    demo.child.stdin?.write('\u0003');
    const { exitCode, output, temporary } = await demo.ended;
    assert.equal(exitCode, 0, output);
    await assertIsGone(url, temporary);
  });

  test('ends when its terminal is closed', { skip: terminalSkip }, async (t) => {
    const demo = openDemo(t, { columns: 80 });
    const { url } = await signIn((await demo.waitFor(isOpen))[0]);
    demo.child.kill('SIGKILL');
    const { temporary } = await demo.ended;
    await waitUntil('its directory is gone', async () => readdirSync(temporary).length === 0);
    await assertIsGone(url, temporary);
  });
});
