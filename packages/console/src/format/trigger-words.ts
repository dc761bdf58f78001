import type {
  IgnoredReason,
  RefusalReason,
  Trigger,
  TriggerCondition,
  TriggerFiring,
} from '@signalbox/contract';
import { plainText } from './text.ts';

const refusalWords: Readonly<Record<RefusalReason, string>> = {
  repository_not_found: 'Refused: the repository does not exist',
  repository_archived: 'Refused: the repository is archived',
  prompt_empty: 'Refused: the prompt is empty',
};

export const ignoredWords: Readonly<Record<IgnoredReason, string>> = {
  team_unmapped: 'no workspace has this chat team',
  team_confirmation: 'it confirmed a chat team',
  event_type: 'messages of this type are not read',
  bot_message: 'a bot wrote it',
  unchanged: 'nothing has changed since the last event',
  stale: 'a newer event had come before',
};

export const opWords: Readonly<Record<TriggerCondition['op'], string>> = {
  eq: 'is',
  ne: 'is not',
  contains: 'contains',
  matches: 'matches the pattern',
  exists: 'exists',
};

/** Says what starts a trigger: the events that it matches, or its times. */
export function causeWords({ type, match, cron, timeZone }: Trigger): string {
  if (type === 'schedule') return plainText(`at ${cron} (${timeZone})`);
  const words = [
    match?.type === undefined ? 'every event' : `on ${match.type}`,
    match?.source !== undefined && `from ${match.source}`,
    conditionCount(match?.where?.length ?? 0),
  ];
  return plainText(words.filter(Boolean).join(' '));
}

function conditionCount(count: number): string {
  if (count === 0) return '';
  return count === 1 ? 'with 1 condition' : `with ${count} conditions`;
}

/** Says what a trigger did for one event or slot. */
export function firingWords({ outcome, reason }: Pick<TriggerFiring, 'outcome' | 'reason'>) {
  switch (outcome) {
    case 'started':
      return 'Enqueued a job';
    case 'capped':
      return 'Enqueued nothing: the hourly limit was reached';
    case 'refused':
      return reason === null ? 'Refused' : refusalWords[reason];
    case 'already_started':
      return 'Enqueued nothing: the event had started a job already';
  }
}

/** Says which part of an event does not match, such as `type` or `where/0`. */
export function mismatchWords(failed: string): string {
  const condition = /^where\/(\d+)$/.exec(failed);
  if (condition !== null) return `condition ${Number(condition[1]) + 1} does not match`;
  if (failed === 'budget') return 'the patterns of the triggers cost too much for this event';
  return `the ${failed} does not match`;
}

/** Says why a trigger that matches an event would start nothing. */
export function refusalWord(reason: RefusalReason): string {
  return refusalWords[reason];
}

type ConditionValue = NonNullable<TriggerCondition['value']> | null;

/**
 * The value of a condition as a person enters it: numbers, true, false and null, or text. Text that
 * looks like one of these is in quotes.
 */
export function readConditionValue(text: string): ConditionValue {
  const trimmed = text.trim();
  const isJson =
    /^(?:true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|"(?:[^"\\]|\\["\\])*")$/.test(
      trimmed,
    );
  // Only these five types match.
  return isJson ? (JSON.parse(trimmed) as ConditionValue) : text;
}

/** The text from which `readConditionValue` reads the value. */
export function writeConditionValue(value: ConditionValue): string {
  return typeof value === 'string' && readConditionValue(value) === value
    ? value
    : JSON.stringify(value);
}
