/** Words in the vocabulary of generated texts. */
const VOCABULARY = 20_000;
const syllables = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ');

/**
 * Generates the same words for the same seed, so that all engines and rounds use the same texts.
 */
export function writeWords(seed: number, count: number): string {
  let state = (Math.imul(seed + 1, 0x9e37_79b1) ^ 0x5bd1_e995) >>> 0;
  const draw = () => {
    // xorshift32 is random enough for generated texts.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, () => spell(rankOf(draw()))).join(' ');
}

/** As in natural languages, few words are frequent: the logarithm of the rank is uniform. */
function rankOf(share: number): number {
  return Math.floor(Math.exp(share * Math.log(VOCABULARY)));
}

function spell(rank: number): string {
  let rest = rank + syllables.length;
  let word = '';
  while (rest > 0) {
    word += syllables[rest % syllables.length] ?? '';
    rest = Math.floor(rest / syllables.length);
  }
  return word;
}
