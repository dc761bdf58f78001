import type { AnsiLine, AnsiSpan } from './ansi.ts';

/** A part of a line; `isFound`: it belongs to the text that a person searches for. */
export interface MarkedSpan extends AnsiSpan {
  isFound: boolean;
}

/**
 * Cuts the spans of a line where a searched text begins and ends, in any case, as the hub searches.
 * A match may continue in a span of another style.
 */
export function markFound(line: AnsiLine, searched: string): MarkedSpan[] {
  const needle = foldCase(searched);
  const ranges = needle === '' ? [] : rangesOf(foldCase(textOf(line)), needle);
  const marked: MarkedSpan[] = [];
  let start = 0;
  for (const { text, style } of line) {
    const end = start + text.length;
    const cuts = ranges.flat().filter((cut) => cut > start && cut < end);
    const places = [...new Set([start, ...cuts, end])];
    for (const [at, from] of places.slice(0, -1).entries()) {
      const until = places[at + 1] ?? end;
      const isFound = ranges.some(([first, last]) => from >= first && from < last);
      marked.push({ text: text.slice(from - start, until - start), style, isFound });
    }
    start = end;
  }
  return marked;
}

function rangesOf(text: string, needle: string): [first: number, last: number][] {
  const ranges: [number, number][] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    ranges.push([at, at + needle.length]);
  }
  return ranges;
}

const textOf = (line: AnsiLine) => line.map(({ text }) => text).join('');

/** Lower case of the same length, so that positions stay: only this letter becomes longer. */
function foldCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}
