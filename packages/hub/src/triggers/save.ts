import {
  type consoleEndpoints,
  type RequestInput,
  TRIGGERS_MAX,
  type TriggerMatch,
} from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { deleteRows, insertRow } from '../db/row-write.ts';
import { requireRepository } from '../repositories/read.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { checkMatch } from './match-event.ts';
import { requireTrigger } from './read.ts';
import { checkSchedule, nextSlot } from './schedule.ts';
import { countTriggers, type TriggerRow, type TriggerWithUse, updateTrigger } from './store.ts';
import { checkTemplate } from './template.ts';

type CreateInput = RequestInput<typeof consoleEndpoints.triggerSettings.create.request>;
type UpdateInput = RequestInput<typeof consoleEndpoints.triggerSettings.update.request>;
type TriggerDeps = Pick<HubDeps, 'database' | 'ids'>;
interface TriggerRef {
  workspaceId: string;
  triggerId: string;
}

const TIME_ZONE_DEFAULT = 'UTC';

/** @throws HubError NOT_ALLOWED, REPO_NOT_FOUND, INVALID_REQUEST */
export function createTrigger(
  { database, ids }: TriggerDeps,
  principal: Principal,
  input: CreateInput,
): Promise<TriggerWithUse> {
  const { workspaceId } = input;
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'trigger.manage');
    if ((await countTriggers(tx, workspaceId)) >= TRIGGERS_MAX) {
      throw invalidField('', `exceeds the limit of ${TRIGGERS_MAX} triggers: delete one first`);
    }
    const row = await checkTrigger(tx, {
      workspace_id: workspaceId,
      trigger_id: ids('trigger'),
      name: input.name,
      type: input.type,
      enabled: input.enabled ? 1 : 0,
      match: null,
      cron: null,
      time_zone: input.type === 'schedule' ? TIME_ZONE_DEFAULT : null,
      repo_id: input.repoId,
      run_ref_template: input.runRefTemplate,
      title_template: null,
      prompt_template: input.promptTemplate,
      priority: input.priority,
      hourly_cap: input.hourlyCap,
      next_fire_at: null,
      created_by: personId,
      created_at: tx.nowMs,
      updated_at: tx.nowMs,
      ...columnsOf(input),
    });
    insertRow(tx, 'triggers', row);
    await audit(tx, row, personId, 'trigger.create');
    return { ...row, last_fired_at: null };
  });
}

/** @throws HubError NOT_ALLOWED, TRIGGER_NOT_FOUND, REPO_NOT_FOUND, INVALID_REQUEST */
export function changeTrigger(
  deps: TriggerDeps,
  principal: Principal,
  input: UpdateInput,
): Promise<TriggerWithUse> {
  return change(deps, principal, input, 'trigger.update', columnsOf(input));
}

/** @throws HubError NOT_ALLOWED, TRIGGER_NOT_FOUND; INVALID_REQUEST when no slot is left */
export function enableTrigger(
  deps: TriggerDeps,
  principal: Principal,
  ref: TriggerRef,
): Promise<TriggerWithUse> {
  return change(deps, principal, ref, 'trigger.enable', { enabled: 1 });
}

/** @throws HubError NOT_ALLOWED, TRIGGER_NOT_FOUND */
export function disableTrigger(
  deps: TriggerDeps,
  principal: Principal,
  ref: TriggerRef,
): Promise<TriggerWithUse> {
  return change(deps, principal, ref, 'trigger.disable', { enabled: 0 });
}

/** @throws HubError NOT_ALLOWED, TRIGGER_NOT_FOUND */
export function deleteTrigger(
  { database }: TriggerDeps,
  principal: Principal,
  { workspaceId, triggerId }: TriggerRef,
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'trigger.manage');
    const row = await requireTrigger(tx, workspaceId, triggerId);
    await deleteRows(tx, 'triggers', { workspace_id: workspaceId, trigger_id: triggerId });
    await audit(tx, row, personId, 'trigger.delete');
  });
}

function change(
  { database }: TriggerDeps,
  principal: Principal,
  { workspaceId, triggerId }: TriggerRef,
  action: string,
  changes: Partial<TriggerRow>,
): Promise<TriggerWithUse> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'trigger.manage');
    const { last_fired_at, ...known } = await requireTrigger(tx, workspaceId, triggerId);
    const row = await checkTrigger(tx, { ...known, ...changes, updated_at: tx.nowMs });
    await updateTrigger(tx, row);
    await audit(tx, row, personId, action);
    return { ...row, last_fired_at };
  });
}

/** Returns the columns that a request changes. Absent fields keep their values. */
function columnsOf(input: CreateInput | UpdateInput): Partial<TriggerRow> {
  return {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.match !== undefined && { match: JSON.stringify(input.match) }),
    ...(input.cron !== undefined && { cron: input.cron }),
    ...(input.timeZone !== undefined && { time_zone: input.timeZone }),
    ...(input.repoId !== undefined && { repo_id: input.repoId }),
    ...(input.runRefTemplate !== undefined && { run_ref_template: input.runRefTemplate }),
    ...(input.titleTemplate !== undefined && { title_template: input.titleTemplate }),
    ...(input.promptTemplate !== undefined && { prompt_template: input.promptTemplate }),
    ...(input.priority !== undefined && { priority: input.priority }),
    ...(input.hourlyCap !== undefined && { hourly_cap: input.hourlyCap }),
  };
}

/** Checks a row against the rules of its type, and sets when the schedule fires next. */
async function checkTrigger(tx: Tx, row: TriggerRow): Promise<TriggerRow> {
  await requireRepository(tx, row.workspace_id, row.repo_id);
  checkTemplate('/runRefTemplate', row.run_ref_template);
  checkTemplate('/promptTemplate', row.prompt_template);
  if (row.title_template !== null) checkTemplate('/titleTemplate', row.title_template);
  if (row.type === 'event') return checkEventTrigger(row);
  if (row.match !== null)
    throw invalidField('/match', 'must be absent for triggers of type schedule');
  const { cron, time_zone } = row;
  if (cron === null || time_zone === null) {
    throw invalidField('/cron', 'is required for triggers of type schedule');
  }
  const schedule = { cron, timeZone: time_zone };
  checkSchedule(schedule, tx.nowMs);
  const isEnabled = row.enabled === 1;
  return { ...row, next_fire_at: isEnabled ? nextSlot(schedule, tx.nowMs) : null };
}

function checkEventTrigger(row: TriggerRow): TriggerRow {
  if (row.cron !== null) throw invalidField('/cron', 'must be absent for triggers of type event');
  if (row.time_zone !== null)
    throw invalidField('/timeZone', 'must be absent for triggers of type event');
  if (row.match === null) throw invalidField('/match', 'is required for triggers of type event');
  // Serialized from a request that passed the schema.
  checkMatch(JSON.parse(row.match) as TriggerMatch);
  return row;
}

async function audit(tx: Tx, row: TriggerRow, actor: string, action: string): Promise<void> {
  const { name, type, repo_id: repoId } = row;
  await appendAudit(tx, {
    workspaceId: row.workspace_id,
    actor,
    action,
    subject: row.trigger_id,
    data: { name, type, repoId },
  });
}
