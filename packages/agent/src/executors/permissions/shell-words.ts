/** In double quotes, a shell substitutes; it may do so in an interactive one for `!`. */
const quoted = `'[^']*'|"[^"\`$\\\\!]*"`;
const notEmpty = `'[^']+'|"[^"\`$\\\\!]+"`;
/** Ends a command, starts another one, redirects or substitutes; or may become several words. */
const first = '[^\\s\'"`;&|<>$(){}\\\\*?[\\]~!#]';
/** Harmless after something else: patterns, and revisions such as `HEAD~2`. */
const later = '[^\\s\'"`;&|<>$(){}\\\\]';
const word = `(?:${notEmpty}|${first})(?:${quoted}|${later})*`;
const simpleLine = new RegExp(`^[ \\t]*${word}(?:[ \\t]+${word})*[ \\t]*$`);

/**
 * Splits a command line as a shell does.
 *
 * @returns null if a shell may do more than run one program with exactly these words. A pattern at
 *   the beginning of a word may become any name of a file, and so an option.
 */
export function splitWords(line: string): string[] | null {
  if (!simpleLine.test(line)) return null;
  const words = line.match(new RegExp(word, 'g')) ?? [];
  return words.map((each) => each.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}
