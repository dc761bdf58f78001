import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Defaulted, Id, Integer, List, Nullable, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

export const LOG_LINES_MAX = 1_000;
export const LOG_LINES_DEFAULT = 200;
/** Of the text of a line. The download has longer lines whole. */
export const LOG_LINE_CHARS_MAX = 16_384;
export const LOG_MATCHES_MAX = 1_000;
export const LOG_MATCHES_DEFAULT = 200;
export const LOG_SEARCH_CHARS_MAX = 200;
/** Of the part of a line that a match shows. */
export const LOG_EXCERPT_CHARS_MAX = 300;
/** The attempts that an answer lists; older ones can still be asked for. */
export const LOG_ATTEMPTS_MAX = 100;

const LineNumber = (description: string) => Integer(1, Number.MAX_SAFE_INTEGER, description);
const ByteOffset = (description: string) => Integer(0, Number.MAX_SAFE_INTEGER, description);

const AttemptNumber = Integer(0, 1_000_000);
const logRef = {
  workspaceId: Id('workspace'),
  jobId: Id('job'),
  attempt: Type.Optional(Integer(1, 1_000_000, 'If absent, the latest attempt.')),
} as const;

const AttemptLog = Type.Object({
  attempt: AttemptNumber,
  lines: Integer(0, Number.MAX_SAFE_INTEGER),
  sizeBytes: Integer(0, Number.MAX_SAFE_INTEGER),
  firstAt: Timestamp('When the hub received the first output.'),
  lastAt: Timestamp('When the hub received the latest output.'),
});

const LogLine = Type.Object({
  line: LineNumber('The number of the line in the log of the attempt.'),
  at: Timestamp("The time of the output in which the line begins, by the agent's clock if sent."),
  stream: Type.Optional(OneOf(['stdout', 'stderr', 'agent', 'tool'])),
  text: Text(LOG_LINE_CHARS_MAX, {
    description: 'Without its line feed. Control sequences of a terminal are kept.',
  }),
  cut: Type.Optional(Type.Boolean({ description: 'True: the line is longer than its text here.' })),
});

const LogMatch = Type.Object({
  line: LineNumber('The number of a line that contains the text.'),
  text: Text(LOG_EXCERPT_CHARS_MAX, {
    description: 'The part of the line around the match, without control sequences.',
  }),
});

const shared = {
  tag: 'Jobs',
  scopes: ['read', 'agent', 'enqueue'],
  console: true,
  repeat: 'safe',
  jobToken: 'own-job',
  errors: ['JOB_NOT_FOUND'],
} as const;
const exampleLogRef = { workspaceId: exampleIds.workspace, jobId: exampleIds.job };

/** The log of an attempt: the text of its output, as one. */
export const jobLog = {
  log: defineEndpoint({
    ...shared,
    name: 'jobsLog',
    path: '/control-plane/v1/jobs/log',
    summary: 'Read lines of the log of an attempt',
    description:
      'The log is the output of one attempt as one text, however it was appended. Returns the ' +
      'lines from fromLine, or from the line that contains fromByte; with neither, the last ' +
      'limit lines. A page of long lines ends before its limit; nextLine continues it. A last ' +
      'line without a line feed may still grow: read it again.',
    request: Type.Object({
      ...logRef,
      fromLine: Type.Optional(LineNumber('The first line to return.')),
      fromByte: Type.Optional(ByteOffset('An offset in the UTF-8 text of the log.')),
      limit: Defaulted(Integer(1, LOG_LINES_MAX), LOG_LINES_DEFAULT),
    }),
    response: Ok({
      attempt: AttemptNumber,
      attempts: List(
        AttemptLog,
        LOG_ATTEMPTS_MAX,
        'The latest attempts that have output, oldest first.',
      ),
      totalLines: Integer(0, Number.MAX_SAFE_INTEGER),
      sizeBytes: Integer(0, Number.MAX_SAFE_INTEGER),
      isEnded: Type.Boolean({ description: 'Whether the attempt has ended: the log is complete.' }),
      lines: List(LogLine, LOG_LINES_MAX),
      nextLine: LineNumber('The number of the line after the last one returned.'),
    }),
    example: {
      request: { ...exampleLogRef, fromLine: 1, limit: 200 },
      response: {
        ok: true,
        attempt: 1,
        attempts: [
          {
            attempt: 1,
            lines: 1,
            sizeBytes: 9,
            firstAt: '2026-11-02T09:00:05.000Z',
            lastAt: '2026-11-02T09:00:05.000Z',
          },
        ],
        totalLines: 1,
        sizeBytes: 9,
        isEnded: false,
        lines: [{ line: 1, at: '2026-11-02T09:00:04.000Z', stream: 'stdout', text: 'npm test' }],
        nextLine: 2,
      },
    },
  }),
  searchLog: defineEndpoint({
    ...shared,
    name: 'jobsSearchLog',
    path: '/control-plane/v1/jobs/search-log',
    summary: 'Search the log of an attempt',
    description:
      'Finds the lines that contain the text, in any case and without control sequences. The ' +
      'text is plain, not a pattern. A call reads a bounded part of the log: while nextLine is ' +
      'not null, send it as fromLine to search on.',
    request: Type.Object({
      ...logRef,
      text: Text(LOG_SEARCH_CHARS_MAX, { minLength: 1 }),
      fromLine: Defaulted(LineNumber('The first line to search.'), 1),
      limit: Defaulted(Integer(1, LOG_MATCHES_MAX), LOG_MATCHES_DEFAULT),
    }),
    response: Ok({
      attempt: AttemptNumber,
      matches: List(LogMatch, LOG_MATCHES_MAX, 'In the order of the lines.'),
      nextLine: Nullable(LineNumber('The first line that was not searched. Null at the end.')),
    }),
    example: {
      request: { ...exampleLogRef, text: 'error' },
      response: {
        ok: true,
        attempt: 1,
        matches: [{ line: 4_812, text: 'Error: expected 3, got 4' }],
        nextLine: null,
      },
    },
  }),
  downloadLog: defineEndpoint({
    ...shared,
    name: 'jobsDownloadLog',
    path: '/control-plane/v1/jobs/download-log',
    summary: 'Download the log of an attempt',
    description:
      'The whole text as UTF-8, or the bytes from fromByte up to, and without, untilByte. It is ' +
      'streamed; if the connection breaks off before the last chunk, the download is incomplete.',
    bytes: 'response',
    request: Type.Object({
      ...logRef,
      fromByte: Defaulted(ByteOffset('The first byte.'), 0),
      untilByte: Type.Optional(ByteOffset('The byte after the last one.')),
    }),
    response: Type.Object({}),
    example: { request: exampleLogRef, response: {} },
  }),
} as const;
