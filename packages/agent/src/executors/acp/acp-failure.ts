import { MessageTooLargeError, RequestError } from '@agentclientprotocol/sdk/unstable';
import { type JsonObject, listOf, objectOf, textOf } from '../json-fields.ts';
import { judgeFailure, type ToldFailure } from '../judge-failure.ts';
import type { ToolFailure } from '../tool-failure.ts';
import type { AcpAgent } from './acp-agents.ts';
import { isClosed, ToolProtocolError } from './acp-connection.ts';
import { SettingUnknownError } from './acp-session.ts';
import { cut } from './approval.ts';

/** The code of the protocol for "log in first". */
const AUTH_REQUIRED = -32_000;
const SUMMARY_CHARS_MAX = 2_000;
const SILENT_RETRY_MS = 30_000;

/** Known facts beside the failure itself. */
interface Known extends Pick<ToldFailure, 'limit'> {
  agent: AcpAgent;
  nowMs: number;
}

/** Judges an error of a conversation; null when the connection was lost. Rethrows defects. */
export function failureOf(error: unknown, known: Known): ToolFailure | null {
  if (error instanceof RequestError) return failureOfRequest(error, known);
  if (error instanceof SettingUnknownError) {
    return { code: 'setting_unknown', summary: error.message };
  }
  if (error instanceof ToolProtocolError) {
    return { code: 'protocol_unsupported', summary: error.message };
  }
  if (error instanceof MessageTooLargeError) {
    const summary = 'The tool sent a message that is too large to be read.';
    return { code: 'message_too_large', summary };
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    const summary = 'The tool did not answer when it was started. Does it speak ACP?';
    return { code: 'tool_silent', summary, retryMs: SILENT_RETRY_MS };
  }
  if (isClosed(error)) return null;
  throw error;
}

/** Reads the failure of a turn that the tool ends as if it were done; null without one. */
export function failureOfTurn(meta: unknown, known: Known): ToolFailure | null {
  const failure = objectOf(objectOf(objectOf(objectOf(meta).jetbrains).air).sessionFailure);
  if (failure.severity !== 'error') return null;
  const said = [failure.title, failure.message, failure.details].map(textOf).filter(Boolean);
  const sentence = cut(said.join(': ') || 'The turn failed.', SUMMARY_CHARS_MAX);
  return judge({ sentence, kinds: [kindOf(failure)] }, known);
}

/** The extension names no kind. Category and actions of the adapters tell it. */
function kindOf({ category, actions, ...others }: JsonObject): string {
  const isLogin = listOf(actions).includes('login');
  const words = Object.values(others);
  if (isLogin || words.includes('auth_required') || words.includes('login')) return 'unauthorized';
  if (category === 'connection') return 'transport_lost';
  if (category !== 'limit') return '';
  if (listOf(actions).length === 0) return 'usage_limit_reached';
  return listOf(actions).includes('retry') ? 'rate_limit' : '';
}

function judge(told: ToldFailure, { agent, nowMs, limit = null }: Known): ToolFailure {
  const failure = judgeFailure({ ...told, limit }, nowMs);
  if (failure.code !== 'not_logged_in') return failure;
  return {
    ...failure,
    summary: `${agent.name} is not logged in. ${agent.loginHint} ${failure.summary}`,
  };
}

/** The words of an adapter whose tool was killed. The adapter itself continues. */
const crashOfTool = /process exited unexpectedly|(process|app[- ]server) (has )?(exited|closed)/i;

function failureOfRequest(error: RequestError, known: Known): ToolFailure {
  const data = objectOf(error.data);
  const details = [data.details, data.message, data.error].map(textOf).find((text) => text !== '');
  const said = cut([error.message, details].filter(Boolean).join(': '), SUMMARY_CHARS_MAX);
  if (crashOfTool.test(said)) {
    return { code: 'tool_crashed', summary: `The tool crashed: ${said}`, retryMs: SILENT_RETRY_MS };
  }
  const kinds =
    error.code === AUTH_REQUIRED
      ? ['unauthorized']
      : [textOf(data.errorKind), textOf(data.codexErrorInfo)];
  return judge({ sentence: said, kinds }, known);
}
