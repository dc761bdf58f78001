import { stripHidden } from '../context/untrusted-text.ts';

/** Of one answer as JSON: about 6,000 tokens. */
export const ANSWER_CHARS_MAX = 24_000;

/** Lengths of texts and lists, tried in turn until the answer fits. */
const cuts = [
  { charsMax: 4_000, itemsMax: 200 },
  { charsMax: 1_000, itemsMax: 100 },
  { charsMax: 300, itemsMax: 50 },
  { charsMax: 120, itemsMax: 20 },
  { charsMax: 60, itemsMax: 5 },
] as const;
type Cut = (typeof cuts)[number];

/** An answer for a model, and whether parts of it were left out. */
export interface FittedAnswer {
  answer: Record<string, unknown>;
  isCut: boolean;
}

/**
 * Shortens the texts and lists of an answer until a model can read it. Invisible characters are
 * deleted, because people who look at the same answer would not see them.
 */
export function fitAnswer(whole: object): FittedAnswer {
  let json = '';
  for (const cut of cuts) {
    // An object stays one.
    const fitted = shorten(whole, cut) as FittedAnswer;
    json = JSON.stringify(fitted.answer);
    if (json.length <= ANSWER_CHARS_MAX) return fitted;
  }
  // An object that a tool has filled with fields, such as evidence.
  return { answer: { beginning: json.slice(0, ANSWER_CHARS_MAX).toWellFormed() }, isCut: true };
}

function shorten(value: unknown, cut: Cut): { answer: unknown; isCut: boolean } {
  if (typeof value === 'string') {
    const clean = stripHidden(value);
    if (clean.length <= cut.charsMax) return { answer: clean, isCut: false };
    return { answer: `${clean.slice(0, cut.charsMax).toWellFormed()}…`, isCut: true };
  }
  if (typeof value !== 'object' || value === null) return { answer: value, isCut: false };
  let isCut = false;
  const inner = (part: unknown): unknown => {
    const fitted = shorten(part, cut);
    isCut ||= fitted.isCut;
    return fitted.answer;
  };
  if (Array.isArray(value)) {
    isCut = value.length > cut.itemsMax;
    return { answer: value.slice(0, cut.itemsMax).map(inner), isCut };
  }
  const answer = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, inner(part)]),
  );
  return { answer, isCut };
}
