import {
  type ChildJob,
  type JobOutcome,
  jobKinds,
  jobOutcomes,
  type OutcomeReason,
  type Usage,
} from '@signalbox/contract';
import { isObject, type JsonObject } from '../executors/json-fields.ts';
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

const reasonTypes: Record<string, 'string' | 'boolean' | 'number'> = {
  category: 'string',
  code: 'string',
  retryable: 'boolean',
  recommendedDelayMs: 'number',
  summary: 'string',
};

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
  return text.trim() === '' ? null : checkResult(parse(text));
}

function parse(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ResultFileError(`The file is not valid JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new ResultFileError('The file must contain a JSON object.');
  return value;
}

function checkResult(value: JsonObject): ResultFile {
  const { outcome, message, outcomeReason, children, usage } = value;
  const known = jobOutcomes.find((candidate) => candidate === outcome);
  if (known === undefined) {
    throw new ResultFileError(`outcome must be one of ${jobOutcomes.join(', ')}.`);
  }
  if (message !== undefined && typeof message !== 'string') {
    throw new ResultFileError('message must be a string.');
  }
  checkReason(outcomeReason);
  checkChildren(children);
  checkUsage(usage);
  // All parts are checked above. Further checks are up to the hub, which names invalid fields.
  return JSON.parse(
    JSON.stringify({
      ...{ outcome: known, message, children, usage },
      outcomeReason: withoutSpending(outcomeReason),
    }),
  ) as ResultFile;
}

/**
 * The agent alone says that an attempt does not count, for example when its account is at a limit.
 */
function withoutSpending(reason: unknown): unknown {
  if (!isObject(reason)) return reason;
  const { spendsAttempt: _spendsAttempt, ...said } = reason;
  return said;
}

function checkReason(reason: unknown): void {
  if (reason === undefined || typeof reason === 'string') return;
  if (!isObject(reason)) throw new ResultFileError('outcomeReason must be a string or an object.');
  for (const [key, type] of Object.entries(reasonTypes)) {
    const value = reason[key];
    if (value !== undefined && typeof value !== type) {
      throw new ResultFileError(`outcomeReason.${key} must be a ${type}.`);
    }
  }
  if (jsonBytes(reason) > REASON_BYTES_MAX) {
    throw new ResultFileError(`outcomeReason must be at most ${REASON_BYTES_MAX} bytes.`);
  }
}

export function checkChildren(children: unknown): void {
  if (children === undefined) return;
  if (!Array.isArray(children) || children.length > CHILDREN_MAX) {
    throw new ResultFileError(`children must be a list of at most ${CHILDREN_MAX} jobs.`);
  }
  for (const [index, child] of children.entries()) {
    const kind = isObject(child) ? child.kind : undefined;
    const prompt = isObject(child) ? child.prompt : undefined;
    if (!jobKinds.some((candidate) => candidate === kind)) {
      throw new ResultFileError(`children[${index}].kind must be one of ${jobKinds.join(', ')}.`);
    }
    if (typeof prompt !== 'string' || prompt === '') {
      throw new ResultFileError(`children[${index}].prompt must be a non-empty string.`);
    }
  }
  if (jsonBytes(children) > CHILDREN_BYTES_MAX) {
    throw new ResultFileError(`children must be at most ${CHILDREN_BYTES_MAX} bytes in total.`);
  }
}

function checkUsage(usage: unknown): void {
  if (usage === undefined) return;
  if (!isObject(usage)) throw new ResultFileError('usage must be an object.');
  for (const key of ['inputTokens', 'outputTokens', 'costUsd']) {
    const value = usage[key];
    if (value !== undefined && !(typeof value === 'number' && value >= 0)) {
      throw new ResultFileError(`usage.${key} must be a non-negative number.`);
    }
  }
}
