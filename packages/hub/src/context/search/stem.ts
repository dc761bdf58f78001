/*
 * Porter's stemmer for English (tartarus.org/martin/PorterStemmer), step by step as in SQLite's
 * FTS5, so that both engines index the same stems. `stem.test.ts` compares the two.
 */

/** FTS5 does not stem words of over 64 bytes, of which the mark takes 11. */
const STEMMED_BYTES_MAX = 53;
/** On SQLite words are prefixed with a mark that ends in a consonant; a `y` after it is a vowel. */
const MARK = 'q';

const isAscii = /^[\da-z]*$/;

type Condition = (stem: string) => boolean;

/** An ending and its replacement. */
type Ending = readonly [suffix: string, replacement: string];

/** The endings of a step by their second-last letter. The first that fits is used. */
type Endings = ReadonlyMap<string, readonly Ending[]>;

const ionEndings: Endings = byLetter([
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['logi', 'log'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
]);

const nessEndings: Endings = byLetter([
  ['ical', 'ic'],
  ['ness', ''],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ful', ''],
  ['ative', ''],
  ['alize', 'al'],
]);

const lastEndings: Endings = byLetter(
  ['al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize'].flatMap(
    (all) => all.split(' ').map((suffix): Ending => [suffix, '']),
  ),
);

/** Returns the stem of a word. Words of other scripts and digits change only by such endings. */
export function stemOf(term: string): string {
  if (isAscii.test(term)) return stemBytes(term);
  // FTS5 treats each byte of a non-ASCII letter as a consonant.
  const stem = stemBytes(Buffer.from(term, 'utf8').toString('latin1'));
  return Buffer.from(stem, 'latin1').toString('utf8');
}

function stemBytes(term: string): string {
  if (term.length > STEMMED_BYTES_MAX) return term;
  let word = shortenEd(shortenPlural(MARK + term));
  if (word.endsWith('y') && hasVowel(word.slice(0, -1))) word = `${word.slice(0, -1)}i`;
  word = replaceEnding(word, ionEndings, hasSyllable);
  word = replaceEnding(word, nessEndings, hasSyllable);
  word = replaceEnding(word, lastEndings, hasSyllables);
  return shortenE(word).slice(MARK.length);
}

/** Step 1a. */
function shortenPlural(word: string): string {
  if (!word.endsWith('s') || word.endsWith('ss')) return word;
  return word.slice(0, word.endsWith('sses') || word.endsWith('ies') ? -2 : -1);
}

/** Step 1b. */
function shortenEd(word: string): string {
  if (word.endsWith('eed')) return hasSyllable(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const suffix = ['ed', 'ing'].find((ending) => word.endsWith(ending));
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  if (!hasVowel(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([bcdfghjkmnpqrtvwxy\d])\1$/.test(stem)) return stem.slice(0, -1);
  return hasSyllable(stem) && !hasSyllables(stem) && endsShort(stem) ? `${stem}e` : stem;
}

/** Steps 2 to 4. */
function replaceEnding(word: string, endings: Endings, isMet: Condition): string {
  const found = endings.get(word.at(-2) ?? '')?.find(([suffix]) => word.endsWith(suffix));
  if (found === undefined) return word;
  const [suffix, replacement] = found;
  const stem = word.slice(0, -suffix.length);
  if (suffix === 'ion' && !/[st]$/.test(stem)) return word;
  return isMet(stem) ? stem + replacement : word;
}

/** Step 5. */
function shortenE(word: string): string {
  let short = word;
  if (short.endsWith('e')) {
    const stem = short.slice(0, -1);
    if (hasSyllables(stem) || (hasSyllable(stem) && !endsShort(stem))) short = stem;
  }
  return short.endsWith('ll') && hasSyllables(short.slice(0, -1)) ? short.slice(0, -1) : short;
}

/** Whether Porter's measure is greater than 0: a vowel is followed by a consonant. */
function hasSyllable(stem: string): boolean {
  return measure(stem, 1) >= 1;
}

/** Whether Porter's measure is greater than 1. */
function hasSyllables(stem: string): boolean {
  return measure(stem, 2) >= 2;
}

function measure(stem: string, atMost: number): number {
  let count = 0;
  let wasVowel = false;
  for (let at = 0; at < stem.length && count < atMost; at++) {
    const isVowel = isVowelAt(stem, at, wasVowel);
    if (wasVowel && !isVowel) count += 1;
    wasVowel = isVowel;
  }
  return count;
}

function hasVowel(stem: string): boolean {
  return /[aeiou]|.y/s.test(stem);
}

/** Whether it ends in consonant, vowel, consonant, and the last is not w, x or y. */
function endsShort(stem: string): boolean {
  if (/[wxy]$/.test(stem)) return false;
  const kinds: boolean[] = [];
  for (let at = 0; at < stem.length; at++) kinds.push(isVowelAt(stem, at, kinds.at(-1) ?? true));
  return kinds.at(-1) === false && kinds.at(-2) === true && kinds.at(-3) === false;
}

/** A `y` after a consonant is a vowel. */
function isVowelAt(stem: string, at: number, wasVowel: boolean): boolean {
  const letter = stem.charAt(at);
  return 'aeiou'.includes(letter) || (letter === 'y' && at > 0 && !wasVowel);
}

function byLetter(endings: readonly Ending[]): Endings {
  return Map.groupBy(endings, ([suffix]) => suffix.at(-2) ?? '');
}
