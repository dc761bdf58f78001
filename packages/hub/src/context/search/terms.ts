/** Longer runs are keys and hashes; their beginning tells them apart well enough. */
const TERM_CHARS_MAX = 64;

const marks = /\p{M}+/gu;
const runs = /[\p{L}\p{N}]+/gu;
/** Scripts that are written without spaces: words are taken to be any two neighbours. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Words of English that say nothing about what a text is on. */
const emptyWords = new Set(
  (
    'a about after all also an and any are as at be because been before but by can could do does ' +
    'for from get had has have how if in into is it its just like may more most must my no not of ' +
    'on one only or other our out over she he should so some such than that the their them then ' +
    'there these they this those to under up use us via was we were what when where which who why ' +
    'will with would you your'
  ).split(' '),
);

/** Lower case, without accents, in the compatible form: what two writings of a word share. */
export function foldText(text: string): string {
  return text.normalize('NFKD').toLowerCase().replace(marks, '');
}

/**
 * The words of a text as the index holds them: letters and digits only, so that no word can be
 * taken for syntax of a query.
 *
 * @param termsMax where to stop.
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

/** The distinct words of a text that say something, in order: what to search for. */
export function tellingTermsOf(text: string, termsMax: number): string[] {
  const telling = new Set<string>();
  // Most words of a text are repetitions or empty, so more are read than kept.
  for (const term of termsOf(text, termsMax * 50)) {
    if (telling.size >= termsMax) break;
    if (!emptyWords.has(term) && !isLetter(term)) telling.add(term);
  }
  return [...telling];
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
