/** Text that the hub takes: no NUL and no half of a surrogate pair. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** What a text takes in a request body. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The beginning of a text, as much as fits into so many bytes of a request body. */
export function fitText(text: string, bytesMax: number): string {
  const clean = cleanText(text);
  if (jsonBytes(clean) <= bytesMax) return clean;
  let fitting = clean.slice(0, bytesMax);
  while (jsonBytes(fitting) > bytesMax - 3) fitting = fitting.slice(0, fitting.length * 0.9);
  return `${cleanText(fitting)}…`;
}

/** The end of a text: where commands say what went wrong. */
export function tailOf(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(text.length - charsMax).toWellFormed();
}
