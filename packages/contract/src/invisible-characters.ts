/**
 * Invisible characters that make text read differently from its content: marks that change its
 * direction (CVE-2021-42574), zero-width characters that split words, and tags and variation
 * selectors, which can encode sentences that a model reads and a person does not see. The source of
 * an expression with the flag `u`; it matches a whole run.
 *
 * Single joiners (U+200C, U+200D) and single selectors belong to ordinary text: emoji, Persian and
 * Indic scripts need them. Several in a row do not.
 */
export const invisibleCharacters = [
  '[\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb' +
    '\\u{e0000}-\\u{e007f}\\u{e0100}-\\u{e01ef}]+',
  '[\\u200c\\u200d]{2,}',
  '[\\ufe00-\\ufe0f]{2,}',
].join('|');
