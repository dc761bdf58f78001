import type { CommentFate, ReviewComment } from '@signalbox/contract';
import type { LineHistory, LinePlace } from '../git/line-history.ts';
import { anchorComment, placeOf, textsAt } from './comment-anchor.ts';

/** A part of the body of a completion. */
const FATES_BYTES_MAX = 60_000;
const PATH_CHARS_MAX = 4_096;

export interface RoundCommits {
  /** The round. */
  jobId: string;
  /** Where it began, and what it has left. */
  startSha: string;
  resultSha: string;
  redact: (text: string) => string;
}

/** Threads of a work that are sent and open: the first comment, and its replies. */
export interface Thread {
  first: ReviewComment & { number: number };
  replies: readonly ReviewComment[];
}

/** The review comments of the work of a round, as they were when it began. */
export interface RoundReview {
  threads: readonly Thread[];
  /** The comments that the tool is to answer. */
  numbers: readonly number[];
  /** For the prompt; empty: nothing is to be answered. */
  text: string;
  startSha: string;
}

export function openThreads(comments: readonly ReviewComment[]): Thread[] {
  return comments.flatMap((first) => {
    const { number, repliesTo, resolvedAt } = first;
    if (number === null || repliesTo !== null || resolvedAt !== null) return [];
    const replies = comments.filter((each) => {
      return each.repliesTo === first.commentId && each.number !== null;
    });
    return [{ first: { ...first, number }, replies }];
  });
}

/**
 * Says of each open thread where its lines are in the result of a round, and whether the round has
 * changed them. It reads git only, and not what the tool says.
 */
export async function computeFates(
  history: LineHistory,
  threads: readonly Thread[],
  round: RoundCommits,
): Promise<CommentFate[]> {
  const fates: CommentFate[] = [];
  let bytes = 0;
  for (const thread of threads) {
    const [state, place] = await fateOf(history, thread, round);
    const isSendable = place === null || place.path.length <= PATH_CHARS_MAX;
    const { path = null, start = null, end = null } = (isSendable ? place : null) ?? {};
    const { number } = thread.first;
    const fate = { number, state, path: path?.toWellFormed() ?? null, startLine: start };
    bytes += Buffer.byteLength(JSON.stringify(fate)) + 30;
    if (bytes > FATES_BYTES_MAX) break;
    fates.push({ ...fate, endLine: end });
  }
  return fates;
}

type Fate = [state: CommentFate['state'], place: LinePlace | null];

async function fateOf(
  history: LineHistory,
  { first, replies }: Thread,
  round: RoundCommits,
): Promise<Fate> {
  const isAsked = [first, ...replies].some(({ sentInJobId }) => sentInJobId === round.jobId);
  // A thread that an earlier round has changed stays changed, until a person asks again.
  if (!isAsked && first.fate?.state === 'changed') {
    return ['changed', await followChanged(history, first.fate, round.resultSha)];
  }
  if (first.side === 'base') return await fateOfBase(history, first, round);
  const { place } = await anchorComment(history, first, round.startSha, round.redact);
  if (place === null) return ['outdated', null];
  const traced = await history.trace(round.startSha, place, round.resultSha);
  if (traced.isChanged || traced.place === null) return ['changed', traced.place];
  const isSamePlace = traced.place.path === first.path && traced.place.start === first.startLine;
  return [isSamePlace ? 'untouched' : 'moved', traced.place];
}

async function followChanged(
  history: LineHistory,
  fate: NonNullable<ReviewComment['fate']>,
  resultSha: string,
): Promise<LinePlace | null> {
  const place = placeOf(fate);
  const { commitSha } = fate;
  if (place === null || commitSha === null || !(await history.hasCommit(commitSha))) return null;
  return (await history.trace(commitSha, place, resultSha)).place;
}

/** A comment on the base is about the lines that have replaced its own, or are still there. */
async function fateOfBase(
  history: LineHistory,
  first: ReviewComment,
  { startSha, resultSha }: RoundCommits,
): Promise<Fate> {
  const place = placeOf(first);
  const { commitSha } = first;
  if (place === null || commitSha === null || !(await history.hasCommit(commitSha))) {
    return ['outdated', null];
  }
  const before = (await history.trace(commitSha, place, startSha)).place;
  const after = (await history.trace(commitSha, place, resultSha)).place;
  const texts = async (sha: string, at: LinePlace | null) =>
    at === null ? null : await textsAt(history, sha, at);
  const isSame =
    JSON.stringify(await texts(startSha, before)) === JSON.stringify(await texts(resultSha, after));
  if (!isSame) return ['changed', after];
  const isSamePlace = before?.path === after?.path && before?.start === after?.start;
  return [isSamePlace ? 'untouched' : 'moved', after];
}
