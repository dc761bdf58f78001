import type { Job, JobReview, JobRound, PatchBeginning, ReviewComment } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { reviewCommentsQuery } from '../api/review-queries.ts';
import { sessionQuery } from '../api/session-queries.ts';
import { randomKey } from '../format/random-key.ts';
import { viewerReason } from '../parts/form/action-button.tsx';
import type { LineRange } from './review-threads.ts';

/** A text that a person writes. It outlives its place in the list, which is drawn on demand. */
export interface Writing {
  text: string;
  /** Sent again after a lost answer, it is the same comment. */
  key: string;
  /** A new comment on these lines. */
  range?: LineRange;
  /** A reply in this thread. */
  repliesTo?: string;
  /** A draft that is changed. */
  commentId?: string;
}

/** The state and the acts that the parts of a review share. */
export interface Review {
  job: Job;
  slug: string;
  rounds: readonly JobRound[];
  comments: readonly ReviewComment[];
  /** The jobs that review the work. */
  reviews: readonly JobReview[];
  /** Undefined while the comments are read. */
  readError: unknown;
  personId: string | undefined;
  /** The result can be commented on: the job is the latest round, and has ended. */
  mayWrite: boolean;
  /** Which changes are in sight: of the whole work, or of the round alone. */
  since: PatchBeginning;
  /**
   * Whether new comments may be on this side. The base of a comment is the file before the work: in
   * the changes of a round, the left side is another file, so it takes none.
   */
  takesComments(side: LineRange['side']): boolean;
  writing: Writing | undefined;
  /** Begins a comment on lines; a text that is being written keeps its words. */
  compose(range: LineRange): void;
  reply(first: ReviewComment): void;
  edit(comment: ReviewComment): void;
  write(text: string): void;
  stop(): void;
  refresh(): Promise<void>;
}

/** Why the changes of a job take no comments, in a sentence; undefined: the person may comment. */
export function refusalOf(
  { round: own, status: state }: Job,
  rounds: readonly JobRound[],
  role: string,
): string | undefined {
  const later = rounds.find(({ round, status }) => round > own && status !== 'canceled');
  if (later) return `Round ${later.round} continues this work: comment on its changes.`;
  if (state !== 'done' && state !== 'failed') {
    return 'The changes can be commented on when the job has ended.';
  }
  return viewerReason(role);
}

interface ReviewInput {
  job: Job;
  slug: string;
  rounds: readonly JobRound[];
  reviews: readonly JobReview[];
  mayWrite: boolean;
  since: PatchBeginning;
}

export function useReview({ job, slug, rounds, reviews, mayWrite, since }: ReviewInput): Review {
  const client = useQueryClient();
  const query = reviewCommentsQuery(job);
  const read = useQuery(query);
  const session = useQuery(sessionQuery());
  const [writing, setWriting] = useState<Writing>();
  const begin = (place: Omit<Writing, 'key'>) => setWriting({ key: randomKey(), ...place });
  return {
    job,
    slug,
    rounds,
    reviews,
    mayWrite,
    since,
    writing,
    takesComments: (side) => mayWrite && (side === 'result' || since === 'work'),
    comments: read.data?.comments ?? [],
    readError: read.data === undefined ? read.error : null,
    personId: session.data?.person?.personId,
    compose: (range) => begin({ text: writing?.range ? writing.text : '', range }),
    reply: ({ commentId }) => begin({ text: '', repliesTo: commentId }),
    edit: ({ commentId, text }) => begin({ text, commentId }),
    write: (text) => setWriting((now) => now && { ...now, text, key: randomKey() }),
    stop: () => setWriting(undefined),
    refresh: () => client.invalidateQueries({ queryKey: query.queryKey }),
  };
}
