import {
  type ChildJob,
  type JobOutcome,
  jobKinds,
  jobOutcomes,
  type OutcomeReason,
  type Usage,
} from '@signalbox/contract';
import { z } from 'zod';
import { readToolFile, ToolFileError } from '../process/tool-file.ts';
import { jsonBytes } from './text-limits.ts';

/** The result that a command writes to the file named by `SIGNALBOX_RESULT_FILE`. */
export interface ResultFile {
  outcome: JobOutcome;
  message?: string;
  outcomeReason?: OutcomeReason;
  /** Jobs to enqueue together with the completion. */
  children?: ChildJob[];
  usage?: Usage;
}

/** The file is invalid; the message says which field is wrong. */
export class ResultFileError extends Error {
  override name = 'ResultFileError';
}

/** All parts of a completion share a body of 262,144 bytes. */
const FILE_BYTES_MAX = 200_000;
const REASON_BYTES_MAX = 20_000;
const CHILDREN_BYTES_MAX = 80_000;
const CHILDREN_MAX = 50;

const limited = <Schema extends z.ZodType>(schema: Schema, bytesMax: number) =>
  schema.refine(
    (value) => jsonBytes(value) <= bytesMax,
    `must be at most ${bytesMax} bytes in all`,
  );
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, `must be one of ${words.join(', ')}`);
const text = z.string('must be a string');
const amount = z.number('must be a number').nonnegative('must be a non-negative number').optional();

/** The agent alone says that an attempt does not count, such as at a limit of its account. */
const Reason = z
  .looseObject({
    category: text.optional(),
    code: text.optional(),
    summary: text.optional(),
    retryable: z.boolean().optional(),
    recommendedDelayMs: z.number().optional(),
  })
  .transform(({ spendsAttempt: _spendsAttempt, ...said }) => said as OutcomeReason);
const reasonWords =
  'must be a string, or an object with category, code and summary (strings), retryable (boolean) ' +
  'and recommendedDelayMs (number)';

const Children = limited(
  z
    .array(
      z.looseObject({ kind: oneOf(jobKinds), prompt: text.min(1, 'must be a non-empty string') }),
      'must be a list of jobs',
    )
    .max(CHILDREN_MAX, `must be a list of at most ${CHILDREN_MAX} jobs`),
  CHILDREN_BYTES_MAX,
);

/** Further checks are up to the hub, which names invalid fields. */
const Result = z.object(
  {
    outcome: oneOf(jobOutcomes),
    message: text.optional(),
    outcomeReason: limited(z.union([text, Reason], reasonWords), REASON_BYTES_MAX).optional(),
    children: Children.optional(),
    usage: z
      .looseObject(
        { inputTokens: amount, outputTokens: amount, costUsd: amount },
        'must be an object',
      )
      .optional(),
  },
  'The file must contain a JSON object',
);

/**
 * Returns null if the command wrote no file. Throws `ResultFileError`.
 *
 * @param uid the user that the command ran as; absent: the agent's own.
 */
export async function readResultFile(file: string, uid?: number): Promise<ResultFile | null> {
  let bytes: Buffer | null;
  try {
    bytes = await readToolFile(file, { bytesMax: FILE_BYTES_MAX, uid });
  } catch (error) {
    if (!(error instanceof ToolFileError)) throw error;
    throw new ResultFileError(error.message);
  }
  const text = bytes?.toString('utf8') ?? '';
  return text.trim() === '' ? null : (check(Result, parse(text)) as ResultFile);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ResultFileError(`The file is not valid JSON: ${(error as Error).message}`);
  }
}

/** @throws {ResultFileError} */
export function checkChildren(children: unknown): void {
  check(Children, children, ['children']);
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: readonly PropertyKey[] = [],
): z.infer<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = z.core.toDotPath([...place, ...(issue?.path ?? [])]);
  throw new ResultFileError(`${path} ${issue?.message}.`.trimStart());
}
