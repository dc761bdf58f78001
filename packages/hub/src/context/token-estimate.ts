/** Tokenizers of today make about four characters of English, or of code, one token. */
const ASCII_CHARS_PER_TOKEN = 4;

/**
 * How many tokens a text is to a model, estimated: a quarter for each ASCII character, one for any
 * other. Models differ, and the hub does not know which one will read it; this errs on the high
 * side for most of the world's scripts, so a budget holds.
 */
export function estimateTokens(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others += 1;
  return Math.ceil((text.length - others) / ASCII_CHARS_PER_TOKEN) + others;
}
