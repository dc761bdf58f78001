import {
  COMMENT_CHARS_MAX,
  commentAnswerWords,
  jobKinds,
  REVIEW_COMMENTS_MAX,
} from '@signalbox/contract';
import { z } from 'zod';
import { type JsonObject, parseObject } from '../executors/json-fields.ts';
import { appendToToolFile, readToolFile, ToolFileError } from '../process/tool-file.ts';
import { ResultFileError } from './result-file.ts';

/** All parts of a completion share a body of 262,144 bytes. */
const FILE_BYTES_MAX = 400_000;
export const REPORTED_MAX = 100;

const checkOutcomes = ['passed', 'failed', 'skipped'] as const;
export const finishOutcomes = ['done', 'blocked', 'failed'] as const;

const text = (charsMax: number) => z.string().max(charsMax);

/** A check that the tool says it ran. The agent has not verified it. */
export const Reported = z.object({
  check: text(200).min(1),
  outcome: z.enum(checkOutcomes),
  detail: text(2_000).optional(),
  link: text(2_000).optional(),
});
type Reported = z.infer<typeof Reported>;

const findingSeverities = ['blocker', 'major', 'minor'] as const;

/** Something that the tool says is wrong with the code that it reviews. */
export const Finding = z.object({
  file: text(1_000).min(1),
  line: z.number().int().min(1).max(10_000_000).optional(),
  severity: z.enum(findingSeverities).describe('blocker: must not be merged'),
  message: text(2_000).min(1).describe('what is wrong, and what to do'),
});
export type Finding = z.infer<typeof Finding>;

/** A file that the tool has uploaded to the hub. */
const AttachedFile = z.object({
  uploadId: text(200),
  fileName: text(255),
  contentType: text(255),
  sizeBytes: z.number().int().nonnegative(),
});
export type AttachedFile = z.infer<typeof AttachedFile>;

/** An answer of the tool to a review comment. */
const CommentAnswer = z.object({
  number: z.number().int().min(1).max(REVIEW_COMMENTS_MAX),
  word: z.enum(commentAnswerWords),
  note: text(COMMENT_CHARS_MAX),
});
export type CommentAnswer = z.infer<typeof CommentAnswer>;

/** A job to be enqueued with the completion. */
const SpawnedJob = z.object({ kind: z.enum(jobKinds), prompt: z.string().min(1) });
type SpawnedJob = z.infer<typeof SpawnedJob>;

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('asked'), uncertaintyId: text(200), prompt: text(20_000) }),
  z.object({ type: z.literal('answered'), uncertaintyId: text(200) }),
  /** No person has answered in time, and the tool was told to end. */
  z.object({ type: z.literal('parked'), uncertaintyId: text(200) }),
  z.object({ type: z.literal('evidence'), ...Reported.shape }),
  z.object({ type: z.literal('finding'), ...Finding.shape }),
  z.object({ type: z.literal('answer'), ...CommentAnswer.shape }),
  z.object({ type: z.literal('file'), ...AttachedFile.shape }),
  z.object({ type: z.literal('child'), job: SpawnedJob }),
  z.object({ type: z.literal('finish'), outcome: z.enum(finishOutcomes), message: text(20_000) }),
]);
export type ReportLine = z.infer<typeof Line>;

/** Questions of an attempt, as its tools have noted them. */
export interface AskedQuestion {
  uncertaintyId: string;
  prompt: string;
  state: 'open' | 'parked' | 'answered';
}

/** All that the tools of an attempt have noted. */
export interface ToolReport {
  questions: readonly AskedQuestion[];
  evidence: readonly Reported[];
  /** With the text of their lines, once they are placed in the commit that was reviewed. */
  findings: readonly (Finding & { text?: string })[];
  files: readonly AttachedFile[];
  children: readonly SpawnedJob[];
  answers: readonly CommentAnswer[];
  finish: { outcome: (typeof finishOutcomes)[number]; message: string } | null;
  /** Numbers of lines that were left out: a process was ended while it wrote them. */
  torn: readonly number[];
}

/**
 * Adds a line to the file that `SIGNALBOX_REPORT_FILE` names. Several processes of a tool may write
 * it at once, so each line is one write at its end. It begins with a line feed, because the line
 * before it may be torn.
 *
 * @throws {ResultFileError} something else is in the place of the file.
 */
export async function appendToReport(file: string, line: ReportLine): Promise<void> {
  await withReport(() => appendToToolFile(file, `\n${JSON.stringify(line)}\n`));
}

/**
 * Reads what the tools of an attempt have noted; an absent file is an empty report.
 *
 * @param uid the user that the tool ran as; absent: the agent's own.
 * @throws {ResultFileError}
 */
export async function readToolReport(file: string, uid?: number): Promise<ToolReport> {
  const bytes = await withReport(() => readToolFile(file, { bytesMax: FILE_BYTES_MAX, uid }));
  const lines = (bytes?.toString('utf8') ?? '').split('\n').filter((line) => line !== '');
  const values = lines.map((line) => parseObject(line));
  const read = values.flatMap((value, index) => (value === null ? [] : [readLine(value, index)]));
  const torn = values.flatMap((value, index) => (value === null ? [index + 1] : []));
  return { ...reportOf(read), torn };
}

/**
 * Adds what an earlier attempt has noted to the report of the next one. Its questions and its
 * outcome are left out: the tool asks again, and ends again.
 *
 * @throws {ResultFileError}
 */
export async function addEarlierReport(file: string, earlier: ToolReport): Promise<void> {
  const { answers, evidence, findings, files, children } = earlier;
  const lines: ReportLine[] = [
    ...answers.map((one) => ({ type: 'answer' as const, ...one })),
    ...evidence.map((one) => ({ type: 'evidence' as const, ...one })),
    ...findings.map((one) => ({ type: 'finding' as const, ...one })),
    ...files.map((one) => ({ type: 'file' as const, ...one })),
    ...children.map((job) => ({ type: 'child' as const, job })),
  ];
  for (const line of lines) await appendToReport(file, line);
}

async function withReport<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ToolFileError)) throw error;
    throw new ResultFileError(`The report of the tool: ${error.message}`);
  }
}

function readLine(value: JsonObject, index: number): ReportLine {
  const read = Line.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.join('.') || 'type';
  throw new ResultFileError(`Line ${index + 1} of the tool's report is invalid at ${where}.`);
}

function reportOf(lines: readonly ReportLine[]): Omit<ToolReport, 'torn'> {
  return {
    questions: questionsOf(lines),
    evidence: linesOf(lines, 'evidence'),
    findings: linesOf(lines, 'finding'),
    files: linesOf(lines, 'file'),
    answers: linesOf(lines, 'answer'),
    children: linesOf(lines, 'child').map(({ job }) => job),
    finish: linesOf(lines, 'finish').at(-1) ?? null,
  };
}

type LineOf<Type> = Omit<Extract<ReportLine, { type: Type }>, 'type'>;

/** The lines of a type, without its name. */
function linesOf<Type extends ReportLine['type']>(lines: readonly ReportLine[], wanted: Type) {
  return lines.flatMap(({ type, ...fields }) =>
    // The type tells which fields there are.
    type === wanted ? [fields as unknown as LineOf<Type>] : [],
  );
}

function questionsOf(lines: readonly ReportLine[]): AskedQuestion[] {
  const questions = new Map<string, AskedQuestion>();
  for (const line of lines) {
    if (line.type === 'asked') {
      const { uncertaintyId, prompt } = line;
      const state = questions.get(uncertaintyId)?.state ?? 'open';
      questions.set(uncertaintyId, { uncertaintyId, prompt, state });
    } else if (line.type === 'answered' || line.type === 'parked') {
      const asked = questions.get(line.uncertaintyId);
      if (asked !== undefined) questions.set(line.uncertaintyId, { ...asked, state: line.type });
    }
  }
  return [...questions.values()];
}
