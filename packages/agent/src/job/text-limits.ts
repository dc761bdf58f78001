/** Replaces characters that the hub rejects: NUL and lone surrogates. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** The size of a value in a request body. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Truncates a text to at most `bytesMax` bytes of a request body. */
export function fitText(text: string, bytesMax: number): string {
  const clean = cleanText(text);
  if (jsonBytes(clean) <= bytesMax) return clean;
  let fitting = clean.slice(0, bytesMax);
  while (jsonBytes(fitting) > bytesMax - 3) fitting = fitting.slice(0, fitting.length * 0.9);
  return `${cleanText(fitting)}…`;
}

/**
 * The end of a text for a reader: from the start of a line, or of a word if its lines are long, and
 * with a mark that more comes before.
 */
export function lastLinesOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = tailOf(text, charsMax - 2);
  // A search over the first half, so that a reader loses no more than that.
  const head = end.slice(0, charsMax / 2);
  const line = head.indexOf('\n');
  const start = line === -1 ? head.indexOf(' ') : line;
  return `…${start === -1 ? end : `\n${end.slice(start + 1)}`}`;
}

/** The end of a text, where commands usually report what went wrong. */
export function tailOf(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(text.length - charsMax).toWellFormed();
}
