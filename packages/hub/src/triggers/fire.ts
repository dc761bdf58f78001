import { hash } from 'node:crypto';
import {
  ATTEMPTS_MAX_DEFAULT,
  type RefusalReason,
  type TriggerMatch,
  type UnmatchedTrigger,
} from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { fenceUntrusted } from '../context/untrusted-text.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { addJob } from '../jobs/enqueue.ts';
import { readRepository } from '../repositories/store.ts';
import { ensureRun } from '../runs/ensure.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { type EventView, findMismatch, MatchBudget } from './match-event.ts';
import { listEventTriggers, type TriggerRow } from './store.ts';
import {
  causeOfSlot,
  countStartedInHour,
  type FiringCause,
  type FiringRow,
  readStarted,
} from './store-firings.ts';
import { cut, renderPrompt, renderTemplate, type TemplateScope } from './template.ts';

/** The contract's limits for a run's reference and title. */
const RUN_REF_CHARS_MAX = 255;
const RUN_TITLE_CHARS_MAX = 300;
/** Leaves space for other parts of an agent's input. */
const PROMPT_CHARS_MAX = 100_000;
/** Characters of a hash that keep references unique after they were cut. */
const HASH_CHARS = 16;

export interface EventEvaluation {
  workspaceId: string;
  eventId: string;
  replay: number;
  /** The view that conditions are matched against. On arrival, this is the whole event. */
  matched: EventView;
  /** The view that templates render: the event as the data policy allows it to be stored. */
  rendered: EventView;
}

/**
 * Matches an event against the triggers of its workspace and starts a run and a job for each match,
 * in the transaction that records the event. A trigger that cannot start records a firing with the
 * reason; it does not make the event fail.
 */
export async function fireForEvent(
  deps: HubDeps,
  tx: Tx,
  { workspaceId, eventId, replay, matched, rendered }: EventEvaluation,
): Promise<{ firings: FiringRow[]; unmatched: UnmatchedTrigger[] }> {
  const firings: FiringRow[] = [];
  const unmatched: UnmatchedTrigger[] = [];
  const budget = new MatchBudget();
  for (const trigger of await listEventTriggers(tx, workspaceId)) {
    // `save.ts` checked the match before it serialized it.
    const failed = findMismatch(JSON.parse(trigger.match ?? '{}') as TriggerMatch, matched, budget);
    if (failed !== null) {
      unmatched.push({ triggerId: trigger.trigger_id, failed });
      continue;
    }
    const cause = { cause: eventId, replay, missed_slots: 0 };
    firings.push(await fire(deps, tx, trigger, cause, { event: rendered }));
  }
  return { firings, unmatched };
}

/** Fires a schedule for one slot, in the transaction that claimed the slot. */
export function fireForSlot(
  deps: HubDeps,
  tx: Tx,
  trigger: TriggerRow,
  { slotMs, missed }: { slotMs: number; missed: number },
): Promise<FiringRow> {
  const cause = { cause: causeOfSlot(slotMs), replay: 0, missed_slots: missed };
  return fire(deps, tx, trigger, cause, { schedule: { slotAt: timestampOf(slotMs) } });
}

async function fire(
  deps: HubDeps,
  tx: Tx,
  trigger: TriggerRow,
  cause: FiringCause,
  scope: Omit<TemplateScope, 'trigger'>,
): Promise<FiringRow> {
  const { workspace_id, trigger_id } = trigger;
  const row: FiringRow = {
    workspace_id,
    trigger_id,
    ...cause,
    outcome: 'started',
    reason: null,
    run_id: null,
    job_id: null,
    at: tx.nowMs,
  };
  const earlier = await readStarted(tx, workspace_id, trigger_id, cause.cause);
  if (earlier !== undefined) {
    const { run_id, job_id } = earlier;
    Object.assign(row, { outcome: 'already_started', run_id, job_id });
  } else if ((await countStartedInHour(tx, workspace_id, trigger_id)) >= trigger.hourly_cap) {
    row.outcome = 'capped';
  } else {
    Object.assign(row, await start(deps, tx, trigger, cause, scope));
  }
  insertRow(tx, 'trigger_firings', row);
  return row;
}

/** Starts the run and the job. Returns the firing's columns for them, or for the refusal. */
async function start(
  deps: HubDeps,
  tx: Tx,
  trigger: TriggerRow,
  cause: FiringCause,
  scope: Omit<TemplateScope, 'trigger'>,
): Promise<Partial<FiringRow>> {
  const { workspace_id: workspaceId, repo_id: repoId, trigger_id: triggerId } = trigger;
  const planned = await planJob(deps, tx, trigger, cause.cause, scope);
  if ('refused' in planned) return { outcome: 'refused', reason: planned.refused };
  const { runRef, runTitle, prompt } = planned;
  const { run_id: runId } = await ensureRun(deps, tx, {
    workspaceId,
    repoId,
    runRef,
    title: runTitle,
    goal: prompt,
  });
  const origin = { triggerId, cause: cause.cause };
  const { row } = await addJob(
    deps,
    tx,
    { id: triggerId, name: null },
    {
      workspaceId,
      repoId,
      runId,
      kind: 'create_run',
      role: 'implementer',
      prompt,
      priority: trigger.priority,
      maxAttempts: ATTEMPTS_MAX_DEFAULT,
      delayMs: 0,
      dependsOn: [],
    },
    { origin: cause.missed_slots === 0 ? origin : { ...origin, missedSlots: cause.missed_slots } },
  );
  return { run_id: runId, job_id: row.job_id };
}

export interface PlannedJob {
  runRef: string;
  runTitle: string;
  prompt: string;
}

/** Renders the job that a trigger starts for a cause, or says why it does not. Writes nothing. */
export async function planJob(
  { secretKey }: Pick<HubDeps, 'secretKey'>,
  reader: Reader,
  trigger: TriggerRow,
  cause: string,
  scope: Omit<TemplateScope, 'trigger'>,
): Promise<PlannedJob | { refused: RefusalReason }> {
  const { workspace_id: workspaceId, repo_id: repoId, trigger_id: triggerId } = trigger;
  const repository = await readRepository(reader, workspaceId, repoId);
  if (repository === undefined) return { refused: 'repository_not_found' };
  if (repository.status === 'archived') return { refused: 'repository_archived' };
  const full = { ...scope, trigger: { id: triggerId, name: trigger.name } };
  const reference = `${triggerId} ${cause}`;
  const prompt = renderPrompt(trigger.prompt_template, full, {
    charsMax: PROMPT_CHARS_MAX,
    fence: (source, text) => fenceUntrusted({ title: '', text, source, reference }, secretKey),
  });
  if (prompt.trim() === '') return { refused: 'prompt_empty' };
  const runTitle = renderTemplate(trigger.title_template ?? '{{trigger.name}}', full, {
    missing: '',
    charsMax: RUN_TITLE_CHARS_MAX,
  });
  return { runRef: renderRunRef(trigger, cause, full), runTitle, prompt };
}

/** Renders one line without control characters. A reference that is too long stays unique. */
function renderRunRef(trigger: TriggerRow, cause: string, scope: TemplateScope): string {
  const whole = renderTemplate(trigger.run_ref_template, scope, {
    missing: cause,
    charsMax: PROMPT_CHARS_MAX,
  });
  const line = whole.replace(/[\s\p{Cc}]+/gu, ' ').trim() || cause;
  if (line.length <= RUN_REF_CHARS_MAX) return line;
  const mark = hash('sha256', line).slice(0, HASH_CHARS);
  return `${cut(line, RUN_REF_CHARS_MAX - HASH_CHARS - 1)}-${mark}`;
}
