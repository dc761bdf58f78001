import { MessageTooLargeError, RequestError } from '@agentclientprotocol/sdk/unstable';
import { objectOf, textOf } from '../json-fields.ts';
import { judgeSentence, type ToolFailure } from '../tool-failure.ts';
import type { AcpAgent } from './acp-agents.ts';
import { ToolProtocolError } from './acp-connection.ts';
import { SettingUnknownError } from './acp-session.ts';
import { cut } from './approval.ts';

/** The code of the protocol for "log in first". */
const AUTH_REQUIRED = -32_000;
const SUMMARY_CHARS_MAX = 2_000;
const SILENT_RETRY_MS = 30_000;

/** Judges an error of a conversation; null when the connection was lost. Rethrows defects. */
export function failureOf(error: unknown, agent: AcpAgent): ToolFailure | null {
  if (error instanceof RequestError) return failureOfRequest(error, agent);
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
  if (error instanceof Error && /connection closed/i.test(error.message)) return null;
  throw error;
}

/** Reads the failure of a turn that the tool ends as if it were done; null without one. */
export function failureOfTurn(meta: unknown, agent: AcpAgent): ToolFailure | null {
  const failure = objectOf(objectOf(objectOf(objectOf(meta).jetbrains).air).sessionFailure);
  if (failure.severity !== 'error') return null;
  const words = Object.values(failure).filter((value) => typeof value === 'string');
  const said = [failure.title, failure.message, failure.details].map(textOf).filter(Boolean);
  const isLogin = words.includes('auth_required') || words.includes('login');
  const code = isLogin ? 'not_logged_in' : judgeSentence(words.join(' '));
  const hint =
    code === 'not_logged_in' ? `${agent.name} is not logged in. ${agent.loginHint} ` : '';
  const summary = cut(`${hint}${said.join(': ') || 'The turn failed.'}`, SUMMARY_CHARS_MAX);
  return { code, summary };
}

/** The words of an adapter whose tool was killed. The adapter itself continues. */
const crashOfTool = /process exited unexpectedly|(process|app[- ]server) (has )?(exited|closed)/i;

function failureOfRequest(error: RequestError, { name, loginHint }: AcpAgent): ToolFailure {
  const data = objectOf(error.data);
  const details = [data.details, data.message, data.error].map(textOf).find((text) => text !== '');
  const said = cut([error.message, details].filter(Boolean).join(': '), SUMMARY_CHARS_MAX);
  if (crashOfTool.test(said)) {
    return { code: 'tool_crashed', summary: `The tool crashed: ${said}`, retryMs: SILENT_RETRY_MS };
  }
  const code = error.code === AUTH_REQUIRED ? 'not_logged_in' : judgeSentence(said);
  const hint = code === 'not_logged_in' ? `${name} is not logged in. ${loginHint} ` : '';
  return { code, summary: `${hint}${said}` };
}
