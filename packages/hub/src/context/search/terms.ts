/** Longer words are keys and hashes, which their beginning distinguishes well enough. */
const TERM_CHARS_MAX = 64;

const marks = /\p{M}+/gu;
const runs = /[\p{L}\p{N}]+/gu;
/** Scripts written without spaces. Each pair of adjacent characters counts as a word. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** English words that say nothing about the subject of a text. */
const stopWords = new Set(
  (
    'a about after all also an and any are as at be because been before but by can could do does ' +
    'for from get had has have how if in into is it its just like may more most must my no not of ' +
    'on one only or other our out over she he should so some such than that the their them then ' +
    'there these they this those to under up use us via was we were what when where which who why ' +
    'will with would you your'
  ).split(' '),
);

/** Folds a text to lower case without accents, in compatibility form (NFKD). */
export function foldText(text: string): string {
  return text.normalize('NFKD').toLowerCase().replace(marks, '');
}

/**
 * Splits a text into words as they are indexed: letters and digits only, so that no word can be
 * syntax of a query.
 *
 * @param termsMax how many words are returned at most.
 */
export function termsOf(text: string, termsMax: number): string[] {
  const terms: string[] = [];
  for (const [run] of foldText(text).matchAll(runs)) {
    for (const term of splitRun(run)) {
      if (terms.length >= termsMax) return terms;
      terms.push(term);
    }
  }
  return terms;
}

/** Returns the distinct significant words of a text, in order. They are what to search for. */
export function significantTermsOf(text: string, termsMax: number): string[] {
  const significant = new Set<string>();
  // Most words of a text are repetitions or stop words, so more are read than kept.
  for (const term of termsOf(text, termsMax * 50)) {
    if (significant.size >= termsMax) break;
    if (!stopWords.has(term) && !isLetter(term)) significant.add(term);
  }
  return [...significant];
}

function isLetter(term: string): boolean {
  return term.length === 1 && term < '\u0080';
}

function* splitRun(run: string): Generator<string> {
  let at = 0;
  for (const match of run.matchAll(unspaced)) {
    if (match.index > at) yield cut(run.slice(at, match.index));
    yield* pairsOf(match[0]);
    at = match.index + match[0].length;
  }
  if (at < run.length) yield cut(run.slice(at));
}

function* pairsOf(text: string): Generator<string> {
  const letters = [...text];
  if (letters.length === 1) yield text;
  for (let at = 0; at + 1 < letters.length; at++) yield `${letters[at]}${letters[at + 1]}`;
}

function cut(term: string): string {
  return term.length <= TERM_CHARS_MAX ? term : [...term].slice(0, TERM_CHARS_MAX).join('');
}
