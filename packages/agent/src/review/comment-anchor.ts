import type { ReviewComment } from '@signalbox/contract';
import { type LineHistory, type LinePlace, splitLines } from '../git/line-history.ts';

/** Where the lines of a comment are in a commit. Outdated: nowhere, or git cannot tell where. */
export type Anchor =
  | { state: 'found' | 'moved'; place: LinePlace }
  | { state: 'outdated'; place: null };

const outdated: Anchor = { state: 'outdated', place: null };

/** Replaces a secret in a redacted text. */
const REDACTED = '[redacted]';

/** A place of the lines of a comment that is certain, and their text there. */
interface KnownPlace {
  commitSha: string;
  place: LinePlace;
  texts: readonly string[];
}

/**
 * Finds the lines of a comment in a commit, never by guess: where git says that they are, or, if
 * they were cut out, at the only place that has their text.
 *
 * @param redact hides secrets, as in the texts that the hub has.
 */
export async function anchorComment(
  history: LineHistory,
  comment: ReviewComment,
  commitSha: string,
  redact: (text: string) => string,
): Promise<Anchor> {
  const known = await findKnownPlace(history, comment, redact);
  let place: LinePlace | null;
  if (known === null) {
    place = await findOnly(history, commitSha, comment.path, textMatcher(comment, redact));
  } else {
    const traced = await history.trace(known.commitSha, known.place, commitSha);
    place = traced.isChanged ? await findCutOut(history, known, commitSha) : traced.place;
  }
  if (place === null) return outdated;
  const isFound = place.path === comment.path && place.start === comment.startLine;
  return { state: isFound ? 'found' : 'moved', place };
}

/** Where the latest round has left the lines; else where the comment was written. */
async function findKnownPlace(
  history: LineHistory,
  comment: ReviewComment,
  redact: (text: string) => string,
): Promise<KnownPlace | null> {
  const { fate } = comment;
  const told = fate === null ? null : placeOf(fate);
  if (fate?.commitSha && told !== null && (await history.hasCommit(fate.commitSha))) {
    const texts = await textsAt(history, fate.commitSha, told);
    if (texts !== null) return { commitSha: fate.commitSha, place: told, texts };
  }
  const own = placeOf(comment);
  const { commitSha } = comment;
  if (commitSha === null || own === null || !(await history.hasCommit(commitSha))) return null;
  const texts = await textsAt(history, commitSha, own);
  const isSame = texts !== null && textMatcher(comment, redact).matches(texts);
  return isSame ? { commitSha, place: own, texts } : null;
}

export function placeOf({
  path,
  startLine,
  endLine,
}: {
  path: string | null;
  startLine: number | null;
  endLine: number | null;
}): LinePlace | null {
  if (path === null || startLine === null || endLine === null) return null;
  return { path, start: startLine, end: endLine };
}

export async function textsAt(
  history: LineHistory,
  commitSha: string,
  { path, start, end }: LinePlace,
): Promise<readonly string[] | null> {
  const lines = await history.linesOf(commitSha, path);
  return lines === null || lines.length < end ? null : lines.slice(start - 1, end);
}

/** The only place of lines that were cut out, if they were at one place before, too. */
async function findCutOut(
  history: LineHistory,
  { commitSha: from, place, texts }: KnownPlace,
  to: string,
): Promise<LinePlace | null> {
  const path = await history.pathIn(from, place.path, to);
  const matcher = exactMatcher(texts);
  if (path === null || (await findOnly(history, from, place.path, matcher)) === null) return null;
  return await findOnly(history, to, path, matcher);
}

interface Matcher {
  count: number;
  matches(texts: readonly string[]): boolean;
}

function exactMatcher(texts: readonly string[]): Matcher {
  return {
    count: texts.length,
    matches: (others) => texts.every((text, at) => text === others[at]),
  };
}

function textMatcher({ lines }: ReviewComment, redact: (text: string) => string): Matcher {
  const texts = splitLines(`${lines}\n`);
  const exact = exactMatcher(texts);
  if (!lines.includes(REDACTED)) return exact;
  return { count: texts.length, matches: (others) => exact.matches(others.map(redact)) };
}

async function findOnly(
  history: LineHistory,
  commitSha: string,
  path: string,
  { count, matches }: Matcher,
): Promise<LinePlace | null> {
  const lines = (await history.linesOf(commitSha, path)) ?? [];
  let found: LinePlace | null = null;
  for (let at = 0; at + count <= lines.length; at += 1) {
    if (!matches(lines.slice(at, at + count))) continue;
    if (found !== null) return null;
    found = { path, start: at + 1, end: at + count };
  }
  return found;
}
