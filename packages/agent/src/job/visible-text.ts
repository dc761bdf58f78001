/**
 * The characters of a text that a reader sees, without line ends, and the offset of each in it. A
 * secret is found there although escape sequences, invisible characters or line ends split it.
 */
export interface VisibleText {
  readonly text: string;
  /** The offset of a visible character in the original text. */
  offsetOf(index: number): number;
}

/**
 * Escape sequences (ECMA-48: CSI, OSC and other strings, two-character ones), control characters
 * but the tab, line ends, and characters of no width.
 */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-Z\\^-~]|[\0-\x08\x0a-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

export function visibleText(text: string): VisibleText {
  const parts: string[] = [];
  /** Where each part begins: among the visible characters, and in the text. */
  const starts: { index: number; offset: number }[] = [];
  let index = 0;
  let offset = 0;
  const add = (end: number) => {
    if (end === offset) return;
    starts.push({ index, offset });
    parts.push(text.slice(offset, end));
    index += end - offset;
  };
  for (const match of text.matchAll(unseen)) {
    add(match.index);
    offset = match.index + match[0].length;
  }
  add(text.length);
  return { text: parts.join(''), offsetOf: (at) => offsetIn(starts, at) };
}

/** Finds the last part that begins at or before the index, by bisection. */
function offsetIn(starts: readonly { index: number; offset: number }[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle]?.index ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  const start = starts[low] ?? { index: 0, offset: 0 };
  return start.offset + at - start.index;
}
