import type { UncertaintyOption } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import { isForConsole } from '../uncertainties/console-only.ts';
import { readUncertainty, type UncertaintyRow } from '../uncertainties/store.ts';
import type { NotificationContent } from './content.ts';
import type { ChannelRow, NotificationRow } from './store.ts';

/** A possible answer. */
export interface Choice {
  value: string;
  label: string;
  isRecommended: boolean;
}

/** The answers that a question offers, in the order in which the console numbers them. */
export function choicesOf({
  options,
  recommended_value: recommended,
  assumed_value: assumed,
}: Pick<UncertaintyRow, 'options' | 'recommended_value' | 'assumed_value'>): Choice[] {
  const offered = JSON.parse(options) as UncertaintyOption[];
  for (const value of [recommended ?? '', assumed]) {
    const isKnown = offered.some((option) => option.value === value);
    if (value.trim() !== '' && !isKnown) offered.push({ value });
  }
  return offered.map(({ value, label = '' }) => ({
    value,
    label: label.trim() === '' ? value : label,
    isRecommended: value === recommended,
  }));
}

/**
 * The answers that the mail about a question lists. Null: a reply does not count, because only the
 * console settles the question, or the mail does not show it alone.
 */
export async function readReplyChoices(
  reader: Reader,
  row: NotificationRow,
  { kind, shows_text }: Pick<ChannelRow, 'kind' | 'shows_text'>,
): Promise<Choice[] | null> {
  // Written by `notifyOfDecision`, or `collectDigest`.
  const { isOfSession, othersAsked } = JSON.parse(row.content) as NotificationContent;
  if (kind !== 'mail' || row.event !== 'decision' || shows_text === 0) return null;
  if (isOfSession || othersAsked) return null;
  const asked = await readUncertainty(reader, row.workspace_id, row.subject_id);
  if (asked === undefined || isForConsole({ kind: asked.kind, actionKey: asked.action_key })) {
    return null;
  }
  return choicesOf(asked);
}

/**
 * Reads an answer from a text: its first line may be a choice or its number; any other text is an
 * answer of its own.
 *
 * @returns null: the first line may mean two choices.
 */
export function pickAnswer(choices: readonly Choice[], text: string): string | null {
  const [line = ''] = text.split('\n', 1);
  const said = fold(line);
  const [, number] = /^(\d+)[.)]?$/.exec(said) ?? [];
  const picked = choices.filter(
    ({ value, label }, at) =>
      fold(label) === said || fold(value) === said || String(at + 1) === number,
  );
  const values = new Set(picked.map(({ value }) => value));
  if (values.size > 1) return null;
  return picked[0]?.value ?? text;
}

/** The quotation marks are those in which a message quotes the choice. */
function fold(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^["“](.*)["”]$/, '$1')
    .toLowerCase();
}
