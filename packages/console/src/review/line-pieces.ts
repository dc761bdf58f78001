import { diffWordsWithSpace } from 'diff';

/** A part of a line with one color, changed within the line or not. */
export interface LinePiece {
  text: string;
  color: string | undefined;
  isChanged: boolean;
}

/** From a character to another one, without it. */
export interface Span {
  start: number;
  end: number;
  color?: string;
}

/** Of a longer line, the rest is not shown, so that no line stalls the page. */
export const LINE_CHARS_SHOWN = 2_000;
/** Longer lines are not searched for changes within them. */
const COMPARED_CHARS_MAX = 600;
/** Of a line with less in common, all has changed, and marks would only be noise. */
const COMMON_SHARE_MIN = 0.35;

/** The parts of `text` that `other` does not have; empty: none, or nearly all of it. */
export function changedSpans(text: string, other: string): Span[] {
  if (text.length > COMPARED_CHARS_MAX || other.length > COMPARED_CHARS_MAX) return [];
  const spans: Span[] = [];
  let at = 0;
  let common = 0;
  for (const part of diffWordsWithSpace(other, text)) {
    if (part.removed) continue;
    const end = at + part.value.length;
    if (part.added) spans.push({ start: at, end });
    else common += part.value.trim().length;
    at = end;
  }
  const isAlike = common >= COMMON_SHARE_MIN * Math.max(text.trim().length, other.trim().length);
  return isAlike ? spans : [];
}

/** Cuts a line where its color or its change begins or ends. Spans of one kind do not overlap. */
export function piecesOf(
  text: string,
  colors: readonly Span[],
  changes: readonly Span[],
): LinePiece[] {
  const shown = text.slice(0, LINE_CHARS_SHOWN);
  const cuts = new Set([0, shown.length]);
  for (const { start, end } of [...colors, ...changes]) {
    cuts.add(Math.min(start, shown.length));
    cuts.add(Math.min(end, shown.length));
  }
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((start, at) => ({
    text: shown.slice(start, sorted[at + 1]),
    color: colors.find((span) => span.start <= start && start < span.end)?.color,
    isChanged: changes.some((span) => span.start <= start && start < span.end),
  }));
}
