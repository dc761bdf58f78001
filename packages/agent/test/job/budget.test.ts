import assert from 'node:assert/strict';
import test from 'node:test';
import type { Job } from '@signalbox/contract';
import { ClaudeReader } from '../../src/executors/claude-reader.ts';
import { createClaudeExecutor, createCodexExecutor, type Executor } from '../../src/index.ts';
import { timeLimitOf } from '../../src/job/job-budget.ts';
import { setupAcp } from '../support/acp-harness.ts';
import { repoId, resultOf, setup } from '../support/harness.ts';

/** Claude Code with what the real one prints: a call of a tool, and a result with its cost. */
function claude(costUsd: number, then = ''): Executor {
  const usage = { input_tokens: 1_000, output_tokens: 100 };
  const lines = [
    { type: 'system', subtype: 'init', session_id: 's', model: 'claude-opus' },
    { type: 'assistant', message: { id: 'msg_1', content: [], usage } },
    { type: 'result', subtype: 'success', result: 'Done.', usage, total_cost_usd: costUsd },
  ].map((line) => `echo '${JSON.stringify(line)}'`);
  const [init, message, result] = lines;
  return {
    ...createClaudeExecutor(),
    check: async () => ({ version: null }),
    plan: (request) => ({
      file: '/bin/sh',
      stdin: '',
      reader: new ClaudeReader(request),
      args: ['-c', [init, message, then, result].filter(Boolean).join('; ')],
    }),
  };
}

test('a job that has cost more than its budget fails, and keeps what it has used', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId, budget: { costUsd: 0.01 } });
  await start('true', { executor: claude(0.024) });
  await hub.until('the result', () => held.accepted !== null);
  const { outcome, outcomeReason, message } = resultOf(held);
  assert.equal(outcome, 'failed');
  assert.deepEqual(
    [outcomeReason?.code, outcomeReason?.retryable, message],
    ['budget_spent', false, 'The job has spent its budget of $0.01: it has cost $0.024.'],
  );
  assert.deepEqual((held.accepted as { usage?: object }).usage, {
    inputTokens: 1_000,
    outputTokens: 100,
    cachedInputTokens: 0,
    costUsd: 0.024,
    model: 'claude-opus',
  });
});

test('a job within its budget is done', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId, budget: { costUsd: 0.024 } });
  await start('true', { executor: claude(0.024) });
  await hub.until('the result', () => held.accepted !== null);
  assert.equal(resultOf(held).outcome, 'done');
});

test('what earlier attempts cost counts, and a spent budget starts no tool', async (t) => {
  const { hub, start } = await setup(t);
  const budget = { costUsd: 0.03 };
  const held = hub.enqueue({ repoId, budget, usage: { costUsd: 0.01 } });
  const spent = hub.enqueue({ repoId, budget, usage: { costUsd: 0.03 } });
  await start('true', { executor: claude(0.024) });
  await hub.until('both results', () => held.accepted !== null && spent.accepted !== null);
  assert.match(resultOf(held).message, /budget of \$0\.03: it has cost \$0\.034\.$/);
  assert.match(resultOf(spent).message, /budget of \$0\.03: it has cost \$0\.03\.$/);
  assert.equal(hub.output(spent).includes('[session'), false);
});

test('Claude Code gets what is left of the budget as its own limit', () => {
  const request = {
    job: { kind: 'work', prompt: '' } as never,
    promptText: '',
    nextPromptText: '',
    worktree: '/w',
    toolFiles: '/t',
    resultFile: '/t/r',
    isReadOnly: false,
    isSandboxOff: false,
    env: {},
    holdMs: 0,
    nowMs: () => 0,
    redact: (text: string) => text,
  };
  const { args } = createClaudeExecutor().plan({ ...request, budgetUsd: 0.02 });
  assert.equal(args[args.indexOf('--max-budget-usd') + 1], '0.02');
  const unlimited = createClaudeExecutor().plan({ ...request, budgetUsd: null });
  assert.equal(unlimited.args.includes('--max-budget-usd'), false);
});

test('a tool that reports no cost refuses a job with a budget', async (t) => {
  const { hub, start } = await setup(t);
  const unchecked = { check: async () => ({ version: null }), ownSandbox: () => null };
  const codex: Executor = { ...createCodexExecutor(), ...unchecked };
  const held = hub.enqueue({ repoId, budget: { costUsd: 1 } });
  await start('true', { executor: codex });
  await hub.until('the result', () => held.accepted !== null);
  const { outcomeReason, message } = resultOf(held);
  assert.equal(outcomeReason?.code, 'budget_not_enforced');
  assert.match(message, /codex reports no cost/);
});

test('a canceled job keeps what it has used', async (t) => {
  const h = await setupAcp(t);
  await h.start({ executor: claude(0, 'exec sleep 60') });
  const jobId = await h.enqueue('Work.');
  await h.untilEvent(jobId, 'log');
  await h.client.jobs.cancel({ workspaceId: h.workspaceId, jobId });
  const job = await h.until(jobId, 'canceled');
  assert.deepEqual(job.usage, {
    inputTokens: 1_000,
    outputTokens: 100,
    cachedInputTokens: 0,
    model: 'claude-opus',
  });
});

test('a job beyond its own time limit fails, and keeps what it has used', async (t) => {
  const h = await setupAcp(t);
  await h.start({ executor: claude(0, 'exec sleep 60') });
  const { workspaceId, repoId, client } = h;
  const draft = { workspaceId, repoId, kind: 'work', prompt: 'Work.' } as const;
  const { jobId } = await client.jobs.enqueue({ ...draft, budget: { timeLimitMs: 15_000 } });
  const job = await h.until(jobId, 'failed');
  assert.ok(typeof job.outcomeReason === 'object');
  assert.deepEqual(
    [job.outcomeReason?.code, job.outcomeReason?.retryable, job.message],
    ['time_limit', false, 'The job exceeded its time limit of 15 seconds.'],
  );
  assert.equal(job.usage?.inputTokens, 1_000);
});

test('the shorter of two time limits counts', () => {
  const limitOf = (budget: Job['budget']) => timeLimitOf({ budget } as Job, 60_000);
  assert.deepEqual([null, { costUsd: 1 }, { timeLimitMs: '5' }, { timeLimitMs: 0 }].map(limitOf), [
    ...[60_000, 60_000, 60_000, 60_000],
  ]);
  assert.deepEqual([{ timeLimitMs: 1_000 }, { timeLimitMs: 90_000 }].map(limitOf), [1_000, 60_000]);
});
