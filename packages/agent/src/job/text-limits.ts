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

/** The end of a text, where commands usually report what went wrong. */
export function tailOf(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(text.length - charsMax).toWellFormed();
}
