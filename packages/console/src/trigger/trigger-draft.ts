import type { Trigger, TriggerCondition } from '@signalbox/contract';
import { readConditionValue, writeConditionValue } from '../format/trigger-words.ts';
import { findEmptyFault, foundFaults } from '../parts/form/form-fields.ts';

/** One condition, as it is entered. */
export interface ConditionDraft {
  /** Tells the rows of the form apart. */
  key: number;
  path: string;
  op: TriggerCondition['op'];
  value: string;
}

const emptyValues = {
  name: '',
  type: 'event',
  source: '',
  eventType: '',
  cron: '',
  timeZone: '',
  repoId: '',
  promptTemplate: '',
  runRefTemplate: '',
  titleTemplate: '',
  priority: '0',
  hourlyCap: '60',
};

/** The fields of the form, all as text. */
export type TriggerValues = Readonly<Record<keyof typeof emptyValues, string>>;

export function valuesOf(trigger: Trigger | null): TriggerValues {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (trigger === null) return { ...emptyValues, timeZone };
  return {
    name: trigger.name,
    type: trigger.type,
    source: trigger.match?.source ?? '',
    eventType: trigger.match?.type ?? '',
    cron: trigger.cron ?? '',
    timeZone: trigger.timeZone ?? timeZone,
    repoId: trigger.repoId,
    promptTemplate: trigger.promptTemplate,
    runRefTemplate: trigger.runRefTemplate,
    titleTemplate: trigger.titleTemplate ?? '',
    priority: String(trigger.priority),
    hourlyCap: String(trigger.hourlyCap),
  };
}

export function conditionsOf(trigger: Trigger | null): ConditionDraft[] {
  const where = trigger?.match?.where ?? [];
  return where.map(({ path, op, value }, key) => ({
    key,
    path,
    op,
    value: value === undefined ? '' : textOf(op, value),
  }));
}

/** A pattern is always text. */
function textOf(op: TriggerCondition['op'], value: NonNullable<TriggerCondition['value']> | null) {
  return op === 'matches' ? String(value) : writeConditionValue(value);
}

export function findTriggerFaults(values: TriggerValues) {
  const { name, type, repoId, promptTemplate, cron, timeZone } = values;
  const isSchedule = type === 'schedule';
  return foundFaults({
    name: findEmptyFault(name, 'a name'),
    repoId: repoId === '' ? 'Choose the repository of the jobs.' : undefined,
    promptTemplate: findEmptyFault(promptTemplate, 'what the agent is to do'),
    cron: isSchedule ? findEmptyFault(cron, 'the times, such as 0 9 * * MON-FRI') : undefined,
    timeZone: isSchedule ? findEmptyFault(timeZone, 'a time zone') : undefined,
    priority: findNumberFault(values.priority, -1_000, 1_000),
    hourlyCap: findNumberFault(values.hourlyCap, 1, 1_000),
  });
}

function findNumberFault(text: string, min: number, max: number): string | undefined {
  const number = Number(text);
  const isRight = text.trim() !== '' && Number.isInteger(number) && number >= min && number <= max;
  return isRight ? undefined : `Enter a whole number from ${min} to ${max}.`;
}

/** The fields of a request that creates or changes a trigger. */
export function requestOf(values: TriggerValues, conditions: readonly ConditionDraft[]) {
  const { source, eventType } = values;
  const isSchedule = values.type === 'schedule';
  // Without a reference, each event or slot has a run of its own.
  const runRef = isSchedule ? '{{schedule.slotAt}}' : '{{event.id}}';
  const match = {
    ...(source.trim() !== '' && { source: source.trim() }),
    ...(eventType.trim() !== '' && { type: eventType.trim() }),
    where: conditions.filter(({ path }) => path.trim() !== '').map(conditionOf),
  };
  return {
    name: values.name.trim(),
    repoId: values.repoId,
    promptTemplate: values.promptTemplate,
    runRefTemplate: values.runRefTemplate.trim() || runRef,
    titleTemplate: values.titleTemplate.trim() || null,
    priority: Number(values.priority),
    hourlyCap: Number(values.hourlyCap),
    ...(isSchedule ? { cron: values.cron.trim(), timeZone: values.timeZone.trim() } : { match }),
  };
}

function conditionOf({ path, op, value }: ConditionDraft): TriggerCondition {
  if (op === 'exists') return { path: path.trim(), op, value: value.trim() !== 'false' };
  if (op === 'matches') return { path: path.trim(), op, value };
  return { path: path.trim(), op, value: readConditionValue(value) };
}
