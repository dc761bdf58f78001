import type { UncertaintyOption } from '@signalbox/contract';
import type { KnownBlock } from '@slack/web-api';
import type { Message } from './content.ts';
import { quote } from './content.ts';

/** A message by the app of Slack. Blocks of plain text have no markup, mentions or links. */
export interface SlackMessage {
  /** Shown by a notification, in markup. */
  text: string;
  blocks: KnownBlock[];
}

/** The actions of a message's buttons; those of which there are several end with their place. */
export const slackActions = { choose: 'choose', reply: 'reply', open: 'open' } as const;

/** Slack's limits: elements of a row, and characters of a header and of a button. */
const ELEMENTS_MAX = 25;
const HEADER_CHARS_MAX = 150;
const BUTTON_CHARS_MAX = 75;
/** Of the answer that was given. */
const ANSWER_CHARS_MAX = 240;
const MS_PER_SECOND = 1_000;

type Draft = Pick<Message, 'title' | 'text' | 'url'>;

/** A message that leads to the console. */
export function plainMessage(draft: Draft): SlackMessage {
  return { ...headOf(draft), blocks: [...bodyOf(draft), rowOf([openButton(draft)])] };
}

/** A question that a person may answer in Slack. */
export interface SlackQuestion {
  workspaceId: string;
  uncertaintyId: string;
  options: readonly UncertaintyOption[];
  recommendedValue: string | null;
}

/** A question with a button for each choice, or one that opens a form. */
export function questionMessage(draft: Draft, question: SlackQuestion): SlackMessage {
  const { options, recommendedValue } = question;
  const buttons = options.map((option, at) => ({
    ...buttonOf(`${slackActions.choose}-${at}`, labelOf(option)),
    value: slackValueOf(question, at),
    ...(option.value === recommendedValue && { style: 'primary' as const }),
  }));
  const reply = {
    ...buttonOf(slackActions.reply, 'Answer'),
    value: slackValueOf(question, 0),
  };
  const shown = options.length === 0 ? [reply] : buttons;
  // Choices that look the same are told apart at the console only.
  const isClear = new Set(shown.map(({ text }) => text.text)).size === shown.length;
  if (!isClear || shown.length >= ELEMENTS_MAX) return plainMessage(draft);
  return { ...headOf(draft), blocks: [...bodyOf(draft), rowOf([...shown, openButton(draft)])] };
}

/**
 * A question that has ended.
 *
 * @param deed who did what, as a sentence without its full stop.
 */
export function endedMessage(draft: Draft, deed: string, atMs: number): SlackMessage {
  const seconds = Math.floor(atMs / MS_PER_SECOND);
  const time = `<!date^${seconds}^{date_short_pretty}, {time}|${new Date(atMs).toISOString()}>`;
  const facts = `${time} · <${escapeSlack(draft.url)}|Open it>`;
  return {
    text: escapeSlack(`${deed}.`),
    blocks: [
      ...bodyOf(draft),
      { type: 'section', text: plain(`${deed}.`) },
      { type: 'context', elements: [{ type: 'mrkdwn', text: facts }] },
    ],
  };
}

/** An answer as people chose it: the label of its choice. */
export function shownAnswer(value: string, options: readonly UncertaintyOption[]): string {
  const option = options.find((one) => one.value === value);
  return quote(option === undefined ? value : wordsOf(option), ANSWER_CHARS_MAX);
}

/** The value of a button, by which a press is understood. */
function slackValueOf({ workspaceId, uncertaintyId }: SlackQuestion, at: number): string {
  return `${workspaceId} ${uncertaintyId} ${at}`;
}

/** Null: it is of no button of ours. */
export function readSlackValue(
  value: string,
): { workspaceId: string; uncertaintyId: string; at: number } | null {
  const [, workspaceId, uncertaintyId, at] = /^(\w{1,40}) (\w{1,40}) (\d{1,2})$/.exec(value) ?? [];
  if (workspaceId === undefined || uncertaintyId === undefined) return null;
  return { workspaceId, uncertaintyId, at: Number(at) };
}

function wordsOf({ value, label }: UncertaintyOption): string {
  return label?.trim() || value;
}

function labelOf(option: UncertaintyOption): string {
  // The button is the quotation.
  return quote(wordsOf(option), BUTTON_CHARS_MAX).slice(1, -1) || '…';
}

function headOf({ title, text }: Draft): Pick<SlackMessage, 'text'> {
  return { text: escapeSlack(`${title}: ${text}`) };
}

function bodyOf({ title, text }: Draft): KnownBlock[] {
  return [
    { type: 'header', text: plain(title.slice(0, HEADER_CHARS_MAX)) },
    { type: 'section', text: plain(text) },
  ];
}

function rowOf(elements: ReturnType<typeof buttonOf>[]): KnownBlock {
  return { type: 'actions', elements };
}

/** @param at its place among others in a message. */
export function openButton({ url }: Pick<Draft, 'url'>, at = 0) {
  return { ...buttonOf(`${slackActions.open}-${at}`, 'Open'), url };
}

function buttonOf(action_id: string, text: string) {
  return { type: 'button' as const, action_id, text: plain(text) };
}

/** Without markup, and no name between colons becomes a picture. */
export function plain(text: string) {
  return { type: 'plain_text' as const, text, emoji: false };
}

/** By Slack's rule for text in markup: a mention or a link begins with `<`. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
