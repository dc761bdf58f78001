import type { Job, Uncertainty } from '@signalbox/contract';
import type { Choice } from '../../words/question-text.ts';
import type { WatchData } from './watch-feed.ts';

/** The part of the view that keys change. */
export interface WatchState {
  /** The chosen question or job, by its ID; null: the first. */
  selectedId: string | null;
  open: OpenQuestion | null;
  /** The job that is read. */
  job: OpenJob | null;
  /** The result of the last action; '' for none. */
  message: string;
}

/** A job with what its tool was told and has said. */
export interface OpenJob {
  job: Job;
  /** Lines above the screen. */
  scrolled: number;
}

/** The question that is being answered. */
export interface OpenQuestion {
  asked: Uncertainty;
  choices: readonly Choice[];
  /** The chosen row: a choice, own words, or dismissal. -1: none yet, so Enter does nothing. */
  row: number;
  /** Lines of the question above the screen. */
  scrolled: number;
  /** An answer in own words, while it is being written. */
  typed: string | null;
}

export interface Key {
  /** As `node:readline` names it. */
  name: string;
  /** The character, if it is one. */
  text: string;
  isCtrl: boolean;
}

/** An action that a key asks for. */
export type Effect =
  | { do: 'quit' }
  | { do: 'open'; uncertaintyId: string }
  | { do: 'open-job'; jobId: string }
  | { do: 'answer'; uncertaintyId: string; mode: 'answered' | 'dismissed'; value: string };

export const firstState: WatchState = { selectedId: null, open: null, job: null, message: '' };

/** Own words and dismissal come after the choices. */
export const rowsAfterChoices = [
  'Another answer …',
  'Dismiss: the job continues without an answer',
];

export function openQuestion(asked: Uncertainty, choices: readonly Choice[]): OpenQuestion {
  // Without a recommendation, Enter alone must not choose an answer.
  const row = choices.findIndex(({ isRecommended }) => isRecommended);
  return { asked, choices, row, scrolled: 0, typed: null };
}

/** The IDs of what can be chosen: the questions, then the jobs. */
function choosable({ questions, jobs }: WatchData): string[] {
  return [
    ...questions.map(({ uncertaintyId }) => uncertaintyId),
    ...jobs.map(({ jobId }) => jobId),
  ];
}

/** The place of the chosen question or job among all of them; -1 without any. */
export function selectedIndex({ selectedId }: WatchState, data: WatchData): number {
  const ids = choosable(data);
  const found = ids.indexOf(selectedId ?? '');
  return found === -1 ? Math.min(0, ids.length - 1) : found;
}

/** Returns the state after a key, and the action that the key asks for. */
export function pressKey(
  state: WatchState,
  data: WatchData,
  key: Key,
): { state: WatchState; effect: Effect | null } {
  if (key.isCtrl && key.name === 'c') return { state, effect: { do: 'quit' } };
  const { open, job } = state;
  if (job !== null) return { state: { ...state, job: pressInJob(job, key) }, effect: null };
  if (open === null) return pressInList(state, data, key);
  const answer = answerOf(open, key);
  if (answer !== null) return { state, effect: answer };
  const next = open.typed === null ? pressInQuestion(open, key) : typeKey(open, open.typed, key);
  return { state: { ...state, open: next, message: '' }, effect: null };
}

function pressInList(state: WatchState, data: WatchData, key: Key) {
  const { length: questions } = data.questions;
  const ids = choosable(data);
  const at = selectedIndex(state, data);
  const quit: Effect = { do: 'quit' };
  if (key.text === 'q') return { state, effect: quit };
  const id = ids[at];
  if (key.name === 'return' && id !== undefined) {
    const effect: Effect =
      at < questions ? { do: 'open', uncertaintyId: id } : { do: 'open-job', jobId: id };
    return { state: { ...state, selectedId: id, message: '' }, effect };
  }
  // From the questions to the jobs, which may be far below, and back.
  const other = at < questions ? questions : 0;
  const next = key.name === 'tab' ? other : at + stepOf(key);
  const selectedId = ids[Math.max(0, Math.min(ids.length - 1, next))] ?? null;
  return { state: { ...state, selectedId }, effect: null };
}

/** Null: the person goes back to the list. */
function pressInJob(open: OpenJob, key: Key): OpenJob | null {
  if (key.name === 'escape' || key.text === 'q') return null;
  const page = key.name === 'pagedown' || key.name === 'space' ? 5 : 0;
  const step = key.name === 'pageup' ? -5 : page + stepOf(key);
  return { ...open, scrolled: Math.max(0, open.scrolled + step) };
}

function stepOf({ name, text }: Key): number {
  if (name === 'down' || text === 'j') return 1;
  return name === 'up' || text === 'k' ? -1 : 0;
}

/** The answer that Enter sends; null if it sends none. */
function answerOf({ asked, choices, row, typed }: OpenQuestion, { name }: Key): Effect | null {
  if (name !== 'return') return null;
  const { uncertaintyId } = asked;
  if (typed !== null) {
    const value = typed.trim();
    return value === '' ? null : { do: 'answer', uncertaintyId, mode: 'answered', value };
  }
  const choice = choices[row];
  if (choice !== undefined) {
    return { do: 'answer', uncertaintyId, mode: 'answered', value: choice.value };
  }
  const isDismissal = row === choices.length + 1;
  return isDismissal ? { do: 'answer', uncertaintyId, mode: 'dismissed', value: '' } : null;
}

/** Null: the person goes back to the list. */
function pressInQuestion(open: OpenQuestion, key: Key): OpenQuestion | null {
  const { choices, row, scrolled } = open;
  const last = choices.length + rowsAfterChoices.length - 1;
  if (key.name === 'escape' || key.text === 'q') return null;
  if (key.name === 'return' && row === choices.length) return { ...open, typed: '' };
  if (key.name === 'pagedown' || key.name === 'space') return { ...open, scrolled: scrolled + 5 };
  if (key.name === 'pageup') return { ...open, scrolled: Math.max(0, scrolled - 5) };
  const digit = /^[1-9]$/.test(key.text) ? Number(key.text) - 1 : null;
  if (digit !== null) return digit <= last ? { ...open, row: digit } : open;
  const step = stepOf(key);
  return step === 0 ? open : { ...open, row: Math.max(0, Math.min(last, row + step)) };
}

function typeKey(open: OpenQuestion, typed: string, key: Key): OpenQuestion {
  if (key.name === 'escape') return { ...open, typed: null };
  if (key.name === 'backspace') return { ...open, typed: [...typed].slice(0, -1).join('') };
  const isText = !key.isCtrl && /^[^\p{Cc}]+$/u.test(key.text);
  return isText ? { ...open, typed: typed + key.text } : open;
}
