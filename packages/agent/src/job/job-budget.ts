import type { Job, Usage } from '@signalbox/contract';
import { askedTool } from '../executors/asked-tool.ts';
import { objectOf } from '../executors/json-fields.ts';
import { nameOf } from '../offered-tools.ts';
import { JobFailure, type JobWork } from './job-work.ts';

/** The limit of this attempt: the budget of the job less the cost of its earlier attempts. */
export function budgetLeft({ budget, usage }: Job): number | null {
  const { costUsd } = objectOf(budget);
  if (typeof costUsd !== 'number' || costUsd < 0) return null;
  return Math.max(0, costUsd - (usage?.costUsd ?? 0));
}

/** The limit of the time of an attempt: the agent's, or that of the job if it is shorter. */
export function timeLimitOf({ budget }: Job, agentLimitMs: number): number {
  const { timeLimitMs } = objectOf(budget);
  const isLimit = typeof timeLimitMs === 'number' && timeLimitMs > 0;
  return isLimit ? Math.min(timeLimitMs, agentLimitMs) : agentLimitMs;
}

export function exceededTimeLimit(limitMs: number): string {
  const isShort = limitMs < 120_000;
  const amount = isShort
    ? `${Math.round(limitMs / 1_000)} seconds`
    : `${Math.round(limitMs / 60_000)} minutes`;
  return `The job exceeded its time limit of ${amount}.`;
}

/**
 * Refuses a job whose budget is spent or cannot be enforced.
 *
 * @throws {JobFailure}
 */
export function checkBudget({ budgetUsd, claimed, settings }: JobWork): void {
  if (budgetUsd === null) return;
  if (budgetUsd === 0) throw overspent(claimed.job, undefined);
  const { executor } = settings;
  if (executor.reportsCost?.() === true) return;
  const tool = executor.tool ?? executor.name;
  throw new JobFailure(
    'environment',
    'budget_not_enforced',
    `The job has a budget, and this agent cannot enforce it: ${tool} reports no cost. Enqueue the ` +
      'job without a budget, or for an agent with Claude Code.',
  );
}

/**
 * Refuses a job for a tool that this agent's person has not offered. The hub hands out none, unless
 * the agent was started with another tool meanwhile.
 *
 * @throws {JobFailure}
 */
export function checkTool({ claimed, settings }: JobWork): void {
  const asked = askedTool(claimed.job.requirements);
  const own = nameOf(settings.executor);
  if (asked === '' || asked === own) return;
  const summary = `The job asks for ${asked}, and this agent offers ${own}.`;
  throw new JobFailure('environment', 'tool_not_offered', summary, {
    recommendedDelayMs: 0,
    spendsAttempt: false,
  });
}

/** The failure of a job that has cost more than its budget; null when it has not. */
export function findOverspent(work: JobWork, usage: Usage | undefined): JobFailure | null {
  const { budgetUsd, claimed } = work;
  if (budgetUsd === null || (usage?.costUsd ?? 0) <= budgetUsd) return null;
  return overspent(claimed.job, usage);
}

function overspent(job: Job, used: Usage | undefined): JobFailure {
  const costUsd = (job.usage?.costUsd ?? 0) + (used?.costUsd ?? 0);
  const budget = dollars(Number(objectOf(job.budget).costUsd));
  const summary = `The job has spent its budget of ${budget}: it has cost ${dollars(costUsd)}.`;
  return new JobFailure('execution', 'budget_spent', summary);
}

/** Four significant digits: budgets of tests are far below a cent. */
function dollars(amount: number): string {
  return `$${Number(amount.toPrecision(4))}`;
}
