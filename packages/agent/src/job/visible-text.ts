/**
 * A text as it reads after something in it was deleted or decoded, and where each character comes
 * from. A secret is found there although escape sequences, line ends or an encoding change it.
 */
export interface TextView {
  readonly text: string;
  /** The offset in the original text at which a character begins. */
  offsetOf(index: number): number;
  /** The offset at which it ends. */
  endOf(index: number): number;
}

/**
 * Escape sequences (ECMA-48: CSI, OSC and other strings, two-character ones), control characters
 * but the tab, line ends, and characters of no width.
 */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-Z\\^-~]|[\0-\x08\x0a-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/;

/** The text that a kind of view deletes or decodes; only group 1 is decoded and kept. */
export interface ViewKind {
  pattern: RegExp;
  decode(encoded: string): string;
}

const none = () => '';
const also = (pattern: RegExp) => new RegExp(`${pattern.source}|${unseen.source}`, 'gi');
const charOf = (code: number) => (code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : '');

/** The characters that a reader sees. */
const visible: ViewKind = { pattern: new RegExp(unseen, 'g'), decode: none };

/** Percent-encoding, as in addresses. Others than ASCII are forms of their own. */
export const percentView: ViewKind = {
  pattern: also(/%([0-7][0-9a-f])/),
  decode: (digits) => charOf(Number.parseInt(digits, 16)),
};

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Character references, as in HTML. */
export const entityView: ViewKind = {
  pattern: also(/&(?:amp;)*(amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});/),
  decode(name) {
    const known = entities[name.toLowerCase()];
    if (known !== undefined) return known;
    const isHex = /^#x/i.test(name);
    return charOf(Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10));
  },
};

/**
 * Texts without quotes and backslashes: all kinds of quoting, also one in the other, read alike.
 */
export const unquotedView: ViewKind = {
  pattern: also(/\\+(?:u00|x)([0-7][0-9a-f])|[\\'"]+/),
  decode: (digits) => withoutQuotes(charOf(Number.parseInt(digits, 16))),
};

export function withoutQuotes(text: string): string {
  return text.replaceAll(/[\\'"]/g, '');
}

/** Texts without blanks, with the marks of a diff or a quotation at the beginning of a line. */
export const unspacedView: ViewKind = {
  pattern: also(/(?:\n[+\-<>|]|[ \t]|(?<=[0-9a-f]{2}):(?=[0-9a-f]{2}))/),
  decode: none,
};

export function visibleText(text: string): TextView {
  return viewOf(text, visible);
}

interface Part {
  index: number;
  offset: number;
  /** The end of what was decoded; null: the characters stand as they are. */
  end: number | null;
}

/** Reads a text in linear time. */
export function viewOf(text: string, { pattern, decode }: ViewKind): TextView {
  const texts: string[] = [];
  const parts: Part[] = [];
  let index = 0;
  let offset = 0;
  const add = (part: string, end: number | null) => {
    if (part === '') return;
    parts.push({ index, offset, end });
    texts.push(part);
    index += part.length;
  };
  for (const { index: start, 0: whole, 1: encoded } of text.matchAll(pattern)) {
    add(text.slice(offset, start), null);
    offset = start;
    if (encoded !== undefined) add(decode(encoded), start + whole.length);
    offset = start + whole.length;
  }
  add(text.slice(offset), null);
  return {
    text: texts.join(''),
    offsetOf(at) {
      const part = partAt(parts, at);
      return part.end === null ? part.offset + at - part.index : part.offset;
    },
    endOf(at) {
      const part = partAt(parts, at);
      return part.end ?? part.offset + at - part.index + 1;
    },
  };
}

/** Finds the last part that begins at or before the index, by bisection. */
function partAt(parts: readonly Part[], at: number): Part {
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((parts[middle]?.index ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return parts[low] ?? { index: 0, offset: 0, end: null };
}
