import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { AgentCapabilities } from '@signalbox/contract';
import { ClaudeReader } from '../../src/executors/claude-reader.ts';
import { type AgentRepository, createClaudeExecutor, type Executor } from '../../src/index.ts';
import type { FakeHub } from '../support/fake-hub.ts';
import {
  eventOf,
  fileAppears,
  makeRepository,
  repoId,
  resultOf,
  setup,
} from '../support/harness.ts';

const streams = join(import.meta.dirname, '..', 'executors', 'streams');
const HOUR_MS = 60 * 60_000;

/** Claude Code that prints what the real one has printed (`executors/streams`). */
function replay(script: string): Executor {
  return {
    ...createClaudeExecutor(),
    check: async () => ({ version: null }),
    plan: (request) => ({
      file: '/bin/sh',
      args: ['-c', script],
      stdin: '',
      reader: new ClaudeReader(request),
    }),
  };
}

/** Writes a recorded limit of a login, to be reset in an hour. */
async function recordLimit(directory: string): Promise<{ file: string; resetsAtMs: number }> {
  const resetsAtMs = Math.ceil((Date.now() + HOUR_MS) / 1_000) * 1_000;
  const text = readFileSync(join(streams, 'claude-login-session.jsonl'), 'utf8');
  const file = join(directory, 'limit.jsonl');
  await writeFile(file, text.replaceAll(/"resetsAt":\d+/g, `"resetsAt":${resetsAtMs / 1_000}`));
  return { file, resetsAtMs };
}

const success = `cat ${join(streams, 'claude-success.jsonl')}`;

const shownOf = (hub: FakeHub) =>
  (hub.agentHeartbeats.at(-1)?.capabilities ?? {}) as AgentCapabilities;

const claimsOf = (hub: FakeHub) =>
  hub.calls.filter(({ path }) => path.endsWith('/jobs/claim-next')).map(({ body }) => body);

test('five jobs and the limit of a login: one is claimed and returned unspent, none fails', async (t) => {
  const { hub, directory, events, start } = await setup(t);
  const { file, resetsAtMs } = await recordLimit(directory);
  const jobs = Array.from({ length: 5 }, () => hub.enqueue({ repoId }));
  await start('true', { executor: replay(`cat ${file}; exit 1`) });
  await hub.until('the pause is shown', () => shownOf(hub).paused !== undefined);
  await hub.until('a result', () => jobs.some(({ accepted }) => accepted !== null));
  const claimed = jobs.filter(({ generation }) => generation > 0);
  assert.equal(claimed.length, 1);
  const [first] = claimed;
  assert.ok(first);
  const { outcome, outcomeReason } = resultOf(first);
  const { summary, ...reason } = outcomeReason ?? {};
  assert.equal(outcome, 'failed');
  assert.match(String(summary), /^You've hit your 5-hour limit/);
  assert.deepEqual(reason, {
    category: 'provider',
    code: 'usage_limit',
    retryable: true,
    spendsAttempt: false,
    // Another agent, with another account, may take it at once.
    recommendedDelayMs: 0,
    details: { resetsAt: new Date(resetsAtMs).toISOString() },
  });
  const { paused, pauses } = shownOf(hub);
  const untilMs = Date.parse(paused?.until ?? '');
  assert.ok(untilMs >= resetsAtMs && untilMs <= resetsAtMs + 60_000, String(paused?.until));
  assert.deepEqual(
    pauses?.map((one) => ({ tool: one.tool, repoIds: one.repoIds })),
    [{ tool: 'claude', repoIds: [repoId] }],
  );
  assert.equal(eventOf(events, 'paused')?.isPartial, false);
});

test('a claim that waits is asked again when a pause begins, and takes no job of the account', async (t) => {
  const { hub, directory, start } = await setup(t);
  const { file } = await recordLimit(directory);
  const [go, begun] = [join(directory, 'go'), join(directory, 'begun')];
  const script = `: > ${begun}; while [ ! -e ${go} ]; do sleep 0.05; done; cat ${file}; exit 1`;
  const first = hub.enqueue({ repoId });
  await start('true', { executor: replay(script), maxConcurrentJobs: 2 });
  await fileAppears(begun);
  await hub.until('a second claim that waits', () => claimsOf(hub).length === 2);
  await writeFile(go, '');
  await hub.until('the pause is shown', () => shownOf(hub).paused !== undefined);
  await hub.until('the claim is settled', () => claimsOf(hub).length === 3);
  const [, waiting, settled] = claimsOf(hub);
  assert.equal(settled?.claimKey, waiting?.claimKey);
  assert.deepEqual([settled?.repoIds, settled?.waitMs], [[], 0]);
  const second = hub.enqueue({ repoId });
  const beats = hub.agentHeartbeats.length;
  await hub.until('two more heartbeats', () => hub.agentHeartbeats.length >= beats + 2);
  assert.equal(second.generation, 0);
  assert.equal(first.generation, 1);
});

test('an agent with two logins continues with the one that is not limited', async (t) => {
  const { hub, clone, directory, events, start } = await setup(t);
  const { file } = await recordLimit(directory);
  const other = join(directory, 'other');
  await makeRepository(other);
  const limited: AgentRepository = { repoId, path: clone, executor: replay(`cat ${file}; exit 1`) };
  const served: AgentRepository = {
    repoId: 'repo_other',
    path: other,
    executor: replay(success),
    environment: { CLAUDE_CONFIG_DIR: join(directory, 'team') },
  };
  const [first, second] = [hub.enqueue({ repoId }), hub.enqueue({ repoId })];
  await start('true', { repositories: [limited, served] });
  await hub.until('a pause', () => (shownOf(hub).pauses ?? []).length > 0);
  const third = hub.enqueue({ repoId: 'repo_other' });
  await hub.until('the job of the other login', () => third.accepted !== null);
  assert.equal(resultOf(third).outcome, 'done');
  assert.equal(first.generation + second.generation, 1);
  const { paused, pauses } = shownOf(hub);
  assert.equal(paused, undefined);
  assert.deepEqual(
    pauses?.map((one) => one.repoIds),
    [[repoId]],
  );
  assert.equal(eventOf(events, 'paused')?.isPartial, true);
  assert.deepEqual(claimsOf(hub).at(-1)?.repoIds, ['repo_other']);
});

test('an unknown failure is temporary until it was seen three times', async (t) => {
  const { hub, start } = await setup(t);
  const job = hub.enqueue({ repoId });
  const result = { type: 'result', subtype: 'success', is_error: true, result: 'A new failure' };
  await start('true', { executor: replay(`echo '${JSON.stringify(result)}'; exit 1`) });
  await hub.until('the result', () => job.accepted !== null);
  const { recommendedDelayMs, ...reason } = resultOf(job).outcomeReason ?? {};
  assert.deepEqual(reason, {
    category: 'execution',
    code: 'tool_error',
    summary: 'A new failure',
    retryable: true,
    spendsAttempt: true,
    occurrencesMax: 3,
  });
  // Longer than the pause of the agent, so that another job goes first.
  assert.ok(Number(recommendedDelayMs) > 15_000, String(recommendedDelayMs));
});

for (const words of ['API Error: 529 Overloaded', 'unexpected status 429 of a new kind']) {
  test(`"${words}" is never final, and spends no attempt`, async (t) => {
    const { hub, start } = await setup(t);
    const job = hub.enqueue({ repoId });
    const result = { type: 'result', subtype: 'success', is_error: true, result: words };
    await start('true', { executor: replay(`echo '${JSON.stringify(result)}'; exit 1`) });
    await hub.until('the result', () => job.accepted !== null);
    const { code, retryable, spendsAttempt, occurrencesMax } = resultOf(job).outcomeReason ?? {};
    assert.deepEqual([code, retryable, spendsAttempt], ['provider_busy', true, false]);
    assert.equal(occurrencesMax, undefined);
  });
}

test('a tool that ends without a result is judged by its last words', async (t) => {
  const { hub, start } = await setup(t);
  const job = hub.enqueue({ repoId });
  await start('true', { executor: replay('echo "Not logged in. Please run /login" >&2; exit 1') });
  await hub.until('the result', () => job.accepted !== null);
  assert.equal(resultOf(job).outcomeReason?.code, 'not_logged_in');
});
