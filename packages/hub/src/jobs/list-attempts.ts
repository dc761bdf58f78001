import {
  ATTEMPTS_COMPARED_MAX,
  type JobAttempt,
  type Usage,
  type Verdict,
  verdicts,
} from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import type { Reader } from '../db/engine.ts';
import { asObject } from '../queue/matching.ts';
import { type JobEventRow, listAttemptEvents } from './store-events.ts';

/** Compares the latest attempts of a job by the events of its timeline, oldest first. */
export async function listAttempts(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<JobAttempt[]> {
  // Each attempt has a claim and at most one end.
  const newestFirst = await listAttemptEvents(
    reader,
    workspaceId,
    jobId,
    2 * ATTEMPTS_COMPARED_MAX,
  );
  const attempts = new Map<number, JobAttempt>();
  for (const event of newestFirst.toReversed()) {
    if (event.attempt === 0) continue;
    const known = attempts.get(event.attempt) ?? { ...unknown, attempt: event.attempt };
    attempts.set(event.attempt, { ...known, ...factsOf(event) });
  }
  return [...attempts.values()].slice(-ATTEMPTS_COMPARED_MAX);
}

const unknown: Omit<JobAttempt, 'attempt'> = {
  agentId: null,
  startedAt: null,
  endedAt: null,
  outcome: null,
  tool: null,
  model: null,
  verdict: null,
  usage: null,
};

/** The kinds of the events by which attempts end. */
const outcomes: Readonly<Record<string, NonNullable<JobAttempt['outcome']>>> = {
  completed: 'done',
  failed: 'failed',
  blocked: 'blocked',
  canceled: 'canceled',
};

function factsOf({ kind, at, agent_id: agentId, data }: JobEventRow): Partial<JobAttempt> {
  if (kind === 'claimed') return { agentId, startedAt: timestampOf(at) };
  const { evidence, usage } = asObject(data) ?? {};
  const { executor, verdict } = asObject(evidence) ?? {};
  const { tool } = asObject(executor) ?? {};
  // It passed the contract's schema when it was written.
  const used: Usage | null = usage ?? null;
  return {
    endedAt: timestampOf(at),
    outcome: outcomes[kind] ?? null,
    tool: typeof tool === 'string' ? tool.slice(0, 64) : null,
    model: used?.model ?? null,
    verdict: verdicts.find((one): one is Verdict => one === verdict) ?? null,
    usage: used,
  };
}
