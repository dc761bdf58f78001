import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Id,
  IdempotencyKey,
  Integer,
  List,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { doneJob, exampleJob } from './job-examples.ts';
import { ClaimGeneration, claimErrors } from './job-schemas.ts';

/** The comments of one piece of work, drafts with them. */
export const REVIEW_COMMENTS_MAX = 500;
/** The lines that a comment is about, as one text. */
export const COMMENT_LINES_CHARS_MAX = 16_000;
export const COMMENT_CHARS_MAX = 8_000;
/** The lines and texts of the comments that one round gets, and of all comments of a work. */
export const COMMENTS_SENT_CHARS_MAX = 200_000;
export const COMMENTS_OF_WORK_CHARS_MAX = 2_000_000;
const LINES_MAX = 10_000_000;

export const commentSides = ['base', 'result'] as const;
export const commentAnswerWords = ['changed', 'disagree', 'question'] as const;
export const commentFates = ['changed', 'moved', 'untouched', 'outdated'] as const;

const Path = Text(4_096, { minLength: 1, description: 'The file, from the root of the clone.' });
const Side = OneOf(commentSides, {
  description: 'base: the file before the work began. result: the file as the round left it.',
});
const StartLine = Integer(1, LINES_MAX, 'The first line, counted from 1.');
const EndLine = Integer(1, LINES_MAX, 'The last line; the first one if it is one line.');
const Lines = Text(COMMENT_LINES_CHARS_MAX, {
  description:
    'The text of these lines, joined by newlines. A later round is searched for it, so that the ' +
    'comment is never attached to other lines.',
});
const CommentText = Text(COMMENT_CHARS_MAX, { minLength: 1 });
const Person = Type.Object({ id: Text(200), name: Nullable(Text(200)) });

/** Where the lines of a comment are in the result of a round, as its agent reads it from git. */
export const CommentFate = Type.Object({
  number: Integer(1, REVIEW_COMMENTS_MAX),
  state: OneOf(commentFates, {
    description:
      'changed: commits of the round changed these lines. moved: the same lines are at another ' +
      'place. untouched: the same lines are at the same place. outdated: the lines were not ' +
      'found, or at more than one place.',
  }),
  path: Nullable(Text(4_096, { description: 'Null: the lines are gone.' })),
  startLine: Nullable(StartLine),
  endLine: Nullable(EndLine),
});
export type CommentFate = Static<typeof CommentFate>;

export const ReviewComment = Type.Object({
  commentId: Id('comment'),
  jobId: Id('job', 'The round whose result the comment is about.'),
  number: Nullable(
    Integer(1, REVIEW_COMMENTS_MAX, 'Its number in the work; null: a draft, which is not sent.'),
  ),
  repliesTo: Nullable(Id('comment', 'The first comment of the thread; null: it is the first.')),
  path: Path,
  side: Side,
  startLine: StartLine,
  endLine: EndLine,
  commitSha: Nullable(Text(64, { description: 'The commit of that side.' })),
  lines: Lines,
  text: CommentText,
  author: Person,
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
  sentInJobId: Nullable(Id('job', 'The round that got it.')),
  answer: Nullable(
    Type.Object({
      word: OneOf(commentAnswerWords),
      note: Text(COMMENT_CHARS_MAX),
      answeredAt: Timestamp(),
    }),
  ),
  fate: Nullable(
    Type.Object({
      ...Type.Omit(CommentFate, ['number']).properties,
      jobId: Id('job', 'The latest round that has told it.'),
      commitSha: Nullable(Text(64)),
    }),
  ),
  resolvedAt: Nullable(Timestamp('Of the whole thread: set on its first comment.')),
  resolvedBy: Nullable(Person),
});
export type ReviewComment = Static<typeof ReviewComment>;

const exampleComment: ReviewComment = {
  commentId: 'com_1j78s1e000305pubchr8',
  jobId: doneJob.jobId,
  number: null,
  repliesTo: null,
  path: 'src/health.ts',
  side: 'result',
  startLine: 4,
  endLine: 5,
  commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
  lines: 'export function health() {\n  return true;',
  text: 'Return the version, too.',
  author: exampleJob.createdBy,
  createdAt: '2026-11-02T09:10:00.000Z',
  updatedAt: '2026-11-02T09:10:00.000Z',
  sentInJobId: null,
  answer: null,
  fate: null,
  resolvedAt: null,
  resolvedBy: null,
};

const people = { tag: 'Review', scopes: ['enqueue'], console: true } as const;
const CommentRef = { workspaceId: Id('workspace'), commentId: Id('comment') };
const exampleCommentRef = {
  workspaceId: exampleIds.workspace,
  commentId: exampleComment.commentId,
};

/**
 * Comments on lines of the result of a job. They belong to its piece of work: all its members see
 * the drafts, `jobs/continue` sends them, and the next rounds answer them.
 */
export const reviewComments = {
  list: defineEndpoint({
    tag: 'Review',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    name: 'reviewCommentsList',
    path: '/control-plane/v1/review-comments/list',
    repeat: 'safe',
    summary: 'List the comments of a piece of work',
    description:
      'Of all rounds of the work to which the job belongs, drafts with them; oldest first.',
    request: Type.Object({ workspaceId: Id('workspace'), jobId: Id('job') }),
    response: Ok({ comments: List(ReviewComment, REVIEW_COMMENTS_MAX) }),
    errors: ['JOB_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, jobId: doneJob.jobId },
      response: { ok: true, comments: [exampleComment] },
    },
  }),
  save: defineEndpoint({
    ...people,
    name: 'reviewCommentsSave',
    path: '/control-plane/v1/review-comments/save',
    repeat: { withKey: 'idempotencyKey' },
    summary: 'Write a draft of a comment',
    description:
      'The job must have ended with a result, and be the latest round of its work. With commentId, ' +
      'the text of a draft is changed; only its author may do so. With repliesTo, the comment ' +
      'belongs to that thread and has its place. If the hub has the patch of the job, a place that ' +
      'contradicts it is refused.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      jobId: Id('job'),
      commentId: Type.Optional(Id('comment')),
      repliesTo: Type.Optional(Id('comment')),
      place: Type.Optional(
        Type.Object(
          { path: Path, side: Side, startLine: StartLine, endLine: EndLine, lines: Lines },
          { description: 'Needed for the first comment of a thread.' },
        ),
      ),
      text: CommentText,
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({ comment: ReviewComment, idempotent: Type.Optional(Type.Boolean()) }),
    errors: ['JOB_NOT_FOUND', 'COMMENT_NOT_FOUND', 'LIMIT_REACHED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        jobId: doneJob.jobId,
        place: {
          path: 'src/health.ts',
          side: 'result',
          startLine: 4,
          endLine: 5,
          lines: exampleComment.lines,
        },
        text: exampleComment.text,
      },
      response: { ok: true, comment: exampleComment },
    },
  }),
  remove: defineEndpoint({
    ...people,
    name: 'reviewCommentsRemove',
    path: '/control-plane/v1/review-comments/remove',
    repeat: 'safe',
    summary: 'Remove a draft of a comment',
    description: 'Only its author and owners may do so. A comment that was sent stays.',
    request: Type.Object(CommentRef),
    response: Ok({}),
    errors: ['COMMENT_NOT_FOUND'],
    example: { request: exampleCommentRef, response: { ok: true } },
  }),
  resolve: defineEndpoint({
    ...people,
    name: 'reviewCommentsResolve',
    path: '/control-plane/v1/review-comments/resolve',
    repeat: 'safe',
    summary: 'Resolve a thread, or open it again',
    description: 'Takes the first comment of the thread, which must have been sent.',
    request: Type.Object({ ...CommentRef, isResolved: Type.Boolean() }),
    response: Ok({ comment: ReviewComment }),
    errors: ['COMMENT_NOT_FOUND'],
    example: {
      request: { ...exampleCommentRef, isResolved: true },
      response: {
        ok: true,
        comment: {
          ...exampleComment,
          number: 1,
          sentInJobId: exampleIds.job,
          resolvedAt: '2026-11-02T09:30:00.000Z',
          resolvedBy: exampleJob.createdBy,
        },
      },
    },
  }),
  answer: defineEndpoint({
    tag: 'Review',
    scopes: ['agent'],
    console: false,
    name: 'reviewCommentsAnswer',
    path: '/control-plane/v1/review-comments/answer',
    repeat: 'safe',
    summary: 'Store the answer of a tool to a comment',
    description:
      'The agent that runs the round sends it. It is the claim of the tool: the fate of the lines ' +
      'comes with the completion of the job, from git.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      jobId: Id('job'),
      agentId: Id('agent'),
      claimGeneration: ClaimGeneration,
      number: Integer(1, REVIEW_COMMENTS_MAX),
      word: OneOf(commentAnswerWords),
      note: Text(COMMENT_CHARS_MAX),
    }),
    response: Ok({ comment: ReviewComment }),
    errors: ['JOB_NOT_FOUND', 'COMMENT_NOT_FOUND', ...claimErrors],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        jobId: exampleIds.job,
        agentId: exampleIds.agent,
        claimGeneration: 1,
        number: 1,
        word: 'changed',
        note: 'It returns the version.',
      },
      response: {
        ok: true,
        comment: {
          ...exampleComment,
          number: 1,
          sentInJobId: exampleIds.job,
          answer: {
            word: 'changed',
            note: 'It returns the version.',
            answeredAt: '2026-11-02T09:20:00.000Z',
          },
        },
      },
    },
  }),
} as const;
