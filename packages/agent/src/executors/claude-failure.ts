import { type JsonObject, listOf, objectOf, textOf } from './json-fields.ts';
import { judgeFailure, type ToldLimit } from './judge-failure.ts';
import type { ToolFailure } from './tool-failure.ts';

/** The messages of Claude Code before its result. */
interface Before {
  /** `error` of the last message of the assistant. */
  kind: string;
  /** The last limit of the account that it met. */
  limit: ToldLimit | null;
  nowMs: number;
}

/** Reads why Claude Code failed; null when it did not. Its exit code is 1 for every failure. */
export function failureOfClaude(result: JsonObject, before: Before): ToolFailure | null {
  const subtype = textOf(result.subtype);
  const isFailed = result.is_error === true || subtype.startsWith('error');
  const isRefused = result.stop_reason === 'refusal';
  if (!isFailed && !isRefused) return null;
  const said = textOf(result.result) || listOf(result.errors).map(textOf).join(' ');
  const sentence = said || `Claude Code ended with ${subtype || 'an error'}.`;
  if (isRefused) return { code: 'refused', summary: sentence };
  const { api_error_status: status } = result;
  const kinds = [textOf(result.terminal_reason), subtype, textOf(result.api_error), before.kind];
  const told = { sentence, kinds, limit: before.limit };
  return judgeFailure(typeof status === 'number' ? { ...told, status } : told, before.nowMs);
}

/**
 * Reads a limit of the account: `rate_limit_info` of a `rate_limit_event`, which the ACP adapter
 * passes on. Null unless the limit is met: with a login, one without a type means that the provider
 * limits the rate of all requests.
 */
export function readClaudeLimit(info: unknown): ToldLimit | null {
  const { status, resetsAt, rateLimitType: type } = objectOf(info);
  if (status !== 'rejected' || typeof type !== 'string') return null;
  return typeof resetsAt === 'number' && resetsAt > 0
    ? { type, resetsAtMs: resetsAt * 1_000 }
    : { type };
}
