import { type JsonObject, listOf, textOf } from './json-fields.ts';
import { judgeSentence, type ToolFailure, type ToolFailureCode } from './tool-failure.ts';

/** Claude Code's own kinds of a failed request, on the message before the result. */
const kinds: Readonly<Record<string, ToolFailureCode>> = {
  authentication_failed: 'not_logged_in',
  billing_error: 'usage_limit',
  max_output_tokens: 'output_limit',
  model_not_found: 'model_unknown',
  server_error: 'provider_busy',
};

const STATUS_UNAUTHORIZED = [401, 403];
const STATUS_TOO_MANY = 429;
const STATUS_SERVER_MIN = 500;

/**
 * Reads why Claude Code failed; null when it did not. Its exit code is 1 for every failure.
 *
 * @param kind `error` of the last message of the assistant.
 */
export function failureOfClaude(result: JsonObject, kind: string): ToolFailure | null {
  const subtype = textOf(result.subtype);
  const isFailed = result.is_error === true || subtype.startsWith('error');
  const isRefused = result.stop_reason === 'refusal';
  if (!isFailed && !isRefused) return null;
  const said = textOf(result.result) || listOf(result.errors).map(textOf).join(' ');
  const summary = said || `Claude Code ended with ${subtype || 'an error'}.`;
  return { code: isRefused ? 'refused' : judge(result, kind, summary), summary };
}

function judge(result: JsonObject, kind: string, summary: string): ToolFailureCode {
  const reason = textOf(result.terminal_reason);
  if (reason === 'max_turns' || result.subtype === 'error_max_turns') return 'max_turns';
  if (reason === 'prompt_too_long') return 'context_too_long';
  const known = kinds[kind] ?? kinds[textOf(result.api_error)];
  if (known !== undefined) return known;
  const status = typeof result.api_error_status === 'number' ? result.api_error_status : 0;
  if (STATUS_UNAUTHORIZED.includes(status)) return 'not_logged_in';
  const bySentence = judgeSentence(summary);
  if (status === STATUS_TOO_MANY || kind === 'rate_limit') {
    return bySentence === 'usage_limit' ? 'usage_limit' : 'provider_busy';
  }
  if (status >= STATUS_SERVER_MIN) return 'provider_busy';
  return bySentence;
}
