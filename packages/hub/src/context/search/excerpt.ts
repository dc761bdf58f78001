import { cutText } from '../data-policy.ts';
import { foldText, termsOf } from './terms.ts';

const EXCERPT_CHARS = 300;
/** Characters shown before the match, so that its sentence can be read. */
const LEAD_CHARS = 80;
/** Matches further in are not looked for: that takes too long. */
const SCANNED_CHARS_MAX = 100_000;
const STEM_CHARS_MIN = 3;

const words = /[\p{L}\p{N}\p{M}]+/gu;
const suffixes = /(?:ing|ed|es|ly|s|e)$/;

/** Returns the beginning of a text, on one line. */
export function excerptOf(text: string): string {
  return onOneLine(cutText(text, EXCERPT_CHARS * 2), text.length > EXCERPT_CHARS * 2);
}

/** Returns the part of a text around the first match of a query's words; else its beginning. */
export function excerptAround(text: string, terms: readonly string[]): string {
  const scanned = cutText(text, SCANNED_CHARS_MAX);
  const stems = new Set(terms.map(stemOf));
  for (const match of scanned.matchAll(words)) {
    if (!termsOf(foldText(match[0]), SCANNED_CHARS_MAX).some((term) => stems.has(stemOf(term)))) {
      continue;
    }
    if (match.index <= LEAD_CHARS) break;
    const lead = scanned.slice(match.index - LEAD_CHARS, match.index);
    const space = lead.search(/\s/);
    const from = match.index - LEAD_CHARS + Math.max(space, 0);
    return `… ${excerptOf(text.slice(from))}`;
  }
  return excerptOf(text);
}

/** A crude stemmer that is enough to find the place of a match. The index has a better one. */
function stemOf(term: string): string {
  const stem = term.replace(suffixes, '');
  return stem.length < STEM_CHARS_MIN ? term : stem;
}

function onOneLine(text: string, isCut: boolean): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= EXCERPT_CHARS && !isCut ? line : `${cutText(line, EXCERPT_CHARS)}…`;
}
