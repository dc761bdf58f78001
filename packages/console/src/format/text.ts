import { invisibleCharacters } from '@signalbox/contract/invisible-characters';

/**
 * Text of agents and requesters is untrusted. React renders it as text; what remains are characters
 * that make text display differently from its content: control characters and invisible ones. They
 * are replaced by a visible character.
 */
const deceptive = new RegExp(
  `[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]|${invisibleCharacters}`,
  'gu',
);

/** Replaces deceptive characters with U+FFFD; tabs and line ends are kept. */
export function plainText(text: string): string {
  return text.replace(deceptive, '\ufffd');
}

/** The first non-empty line, at most `charsMax` long, for a title or a row. */
export function firstLine(text: string, charsMax: number): string {
  const line =
    text
      .slice(0, 4_000)
      .split('\n')
      .map((part) => part.trim())
      .find((part) => part !== '') ?? '';
  const plain = plainText(line);
  return plain.length > charsMax ? `${plain.slice(0, charsMax - 1).trimEnd()}…` : plain;
}

export interface TextPiece {
  text: string;
  /** Set when the piece is an http or https URL. */
  href?: string;
}

const address = /https?:\/\/[^\s<>"'`\\^{|}]+/gi;
/** Punctuation after a URL belongs to the surrounding sentence. */
const trailing = /[.,;:!?)\]]+$/;

/** Splits text into plain pieces and http(s) URLs; joined, the pieces equal the text. */
export function splitLinks(text: string): TextPiece[] {
  if (!text.includes('://')) return [{ text }];
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(address)) {
    const shown = match[0].replace(trailing, '');
    const href = hrefOf(shown);
    if (href === undefined) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push({ text: shown, href });
    end = match.index + shown.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

function hrefOf(shown: string): string | undefined {
  if (!URL.canParse(shown)) return undefined;
  const { protocol, href } = new URL(shown);
  return protocol === 'http:' || protocol === 'https:' ? href : undefined;
}

/** The initials of a name: of its first and its last word. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/[\s._-]+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  );
  return letters.join('').toUpperCase();
}
