import { hash } from 'node:crypto';
import { jobKinds } from '@signalbox/contract';
import type { Client } from '@signalbox/sdk';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { nearestOf } from '../find/nearest.ts';
import { findRepository } from '../find/repository-reference.ts';
import { describeFailure } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';
import { readText } from '../terminal/stdin-text.ts';
import { oneLine, truncateText } from '../terminal/text.ts';
import { shortId } from '../words/job-text.ts';
import { checkPrompt } from '../words/prompt-text.ts';
import type { HubSession } from './hub-session.ts';
import { readPromptFile } from './prompt-source.ts';

/** Bytes of a batch, which is read whole; each line becomes a request of its own. */
const BATCH_BYTES_MAX = 33_554_432;

/** One line of a batch: a job as `jobs/enqueue` takes it; `repo` is a clone or an ID. */
interface Line {
  at: number;
  fields: Record<string, unknown> & { prompt: string; repo: string };
}

type EnqueueRequest = Parameters<Client['jobs']['enqueue']>[0];

const allowed: Readonly<Record<string, string>> = {
  prompt: 'string',
  repo: 'string',
  kind: 'string',
  role: 'string',
  priority: 'number',
  requirements: 'any',
  dependsOn: 'object',
  delayMs: 'number',
  idempotencyKey: 'string',
  concurrencyKey: 'string',
  maxAttempts: 'number',
  runId: 'string',
  budget: 'object',
  base: 'string',
};

/**
 * Enqueues the jobs of a JSON Lines file, in its order. A line without an idempotency key gets one
 * of its content, so a batch that broke off can be repeated: no job is enqueued twice.
 * @throws {CliError} BATCH_INVALID before any job is enqueued; BATCH_INCOMPLETE after some.
 */
export async function enqueueBatch(
  io: Io,
  session: HubSession,
  { file, repo }: { file: string; repo: string },
): Promise<undefined> {
  const name = file === '-' ? 'standard input' : file;
  const text =
    file === '-'
      ? await readText(io, BATCH_BYTES_MAX)
      : await readPromptFile(file, BATCH_BYTES_MAX);
  const lines = readLines(text, name, repo);
  const requests = await resolveLines(io, session, lines, name);
  const done: { line: number; jobId: string; idempotent: boolean }[] = [];
  for (const { at, request } of requests) {
    try {
      const { jobId, idempotent = false } = await session.client.jobs.enqueue(request);
      done.push({ line: at, jobId, idempotent });
      if (!io.json) sayLine(io, jobId, request.prompt, idempotent);
    } catch (error) {
      io.signal.throwIfAborted();
      throw brokenOff(error, { name, at, done: done.length, all: requests.length });
    }
  }
  if (io.json) return io.printJson({ ok: true, jobs: done });
  const repeated = done.filter(({ idempotent }) => idempotent).length;
  const before = repeated === 0 ? '' : `; ${repeated} had been enqueued before`;
  io.print(`${io.styles.green('✔')} ${done.length - repeated} enqueued${before}`);
  return undefined;
}

function sayLine(io: Io, jobId: string, prompt: string, isKnown: boolean): void {
  const { green, dim, bold } = io.styles;
  const width = Math.max(20, Math.min(io.columns, 120) - 14);
  const mark = isKnown ? dim('–') : green('✔');
  io.print(`${mark} ${bold(shortId(jobId))}  ${truncateText(oneLine(prompt), width)}`);
}

function brokenOff(
  error: unknown,
  { name, at, done, all }: { name: string; at: number; done: number; all: number },
): CliError {
  const { exitCode, message } = describeFailure(error);
  const sentence = `${name}:${at}: ${message} ${done} of ${all} jobs are enqueued.`;
  return new CliError(exitCode, 'BATCH_INCOMPLETE', sentence, {
    fix: 'Mend the line and repeat the command: lines that are unchanged are not enqueued twice.',
    cause: error,
  });
}

function readLines(text: string, name: string, repo: string): Line[] {
  const mistakes: string[] = [];
  const lines = text.split('\n').flatMap((raw, index): Line[] => {
    if (raw.trim() === '') return [];
    const result = readLine(raw);
    if (typeof result !== 'string') return [{ at: index + 1, fields: { repo, ...result } }];
    mistakes.push(`${name}:${index + 1}: ${result}`);
    return [];
  });
  if (mistakes.length === 0 && lines.length === 0) mistakes.push(`${name} has no jobs.`);
  if (mistakes.length === 0) return lines;
  throw new CliError(exitCodes.usage, 'BATCH_INVALID', mistakes.slice(0, 20).join('\n  '), {
    fix: 'Nothing was enqueued. Mend the file and repeat the command.',
  });
}

/** The fields of a line, or a sentence that says what is wrong. */
function readLine(raw: string): (Record<string, unknown> & { prompt: string }) | string {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return `the line is not valid JSON: ${(error as Error).message}.`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'the line must be an object, such as {"prompt": "Add a health check."}.';
  }
  const fields = value as Record<string, unknown>;
  const names = Object.keys(allowed);
  for (const [key, given] of Object.entries(fields)) {
    const type = Object.hasOwn(allowed, key) ? allowed[key] : undefined;
    if (type === undefined) {
      const near = nearestOf(key, names);
      const hint = near === null ? `the fields are ${names.join(', ')}.` : `did you mean ${near}?`;
      return `"${oneLine(key)}" is not a known field; ${hint}`;
    }
    if (type !== 'any' && typeof given !== type) return `${key} must be ${article(type)}.`;
  }
  const { prompt, kind } = fields;
  if (kind !== undefined && !jobKinds.some((known) => known === kind)) {
    return `kind must be one of ${jobKinds.join(', ')}.`;
  }
  if (typeof prompt !== 'string') return 'prompt is missing.';
  try {
    return { ...fields, prompt: checkPrompt(prompt) };
  } catch (error) {
    return (error as Error).message;
  }
}

function article(type: string): string {
  return type === 'object' ? 'a list or an object' : `a ${type}`;
}

async function resolveLines(io: Io, session: HubSession, lines: readonly Line[], name: string) {
  const { workspaceId } = session;
  const repositories = new Map<string, string>();
  const seen = new Map<string, number>();
  const requests: { at: number; request: EnqueueRequest }[] = [];
  for (const { at, fields } of lines) {
    const { repo, ...rest } = fields;
    const repoId = repositories.get(repo) ?? (await findAt(io, session, repo, `${name}:${at}`));
    repositories.set(repo, repoId);
    const content = hash('sha256', JSON.stringify([workspaceId, repoId, rest]));
    // Two equal lines are two jobs.
    const count = (seen.get(content) ?? 0) + 1;
    seen.set(content, count);
    const idempotencyKey = `batch-${content.slice(0, 40)}-${count}`;
    // The fields were checked by `readLine`; the hub checks their values.
    const request = {
      idempotencyKey,
      kind: 'work',
      ...rest,
      workspaceId,
      repoId,
    } as EnqueueRequest;
    requests.push({ at, request });
  }
  return requests;
}

async function findAt(io: Io, session: HubSession, repo: string, place: string): Promise<string> {
  try {
    return await findRepository(io, session, repo);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { exitCode, code, fix, message } = error;
    throw new CliError(exitCode, code, `${place}: ${message}`, {
      ...(fix === null ? {} : { fix }),
      cause: error,
    });
  }
}
