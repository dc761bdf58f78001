import { endpoints, type ResponseOf } from '@signalbox/contract';
import { assert, HubError } from '../base/errors.ts';
import { fenceUntrusted } from '../context/untrusted-text.ts';
import type { ProtocolMessage } from '../http/handlers.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { isForConsole } from '../uncertainties/console-only.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { factsOf } from './facts.ts';
import type { AssistantTool } from './tool-table.ts';

export interface AssistantDeps extends Pick<HubDeps, 'database' | 'secretKey'> {
  readonly baseUrl: string;
  log: { error(context: object, message: string): void };
}

/** How a call of a tool ends. */
export type ToolOutcome =
  | { kind: 'answer'; text: string; content: Record<string, unknown> }
  | { kind: 'refusal'; text: string }
  /** Only a person at the console can do this. */
  | { kind: 'console'; text: string; url: string };

/** About 5,000 tokens. */
export const QUOTE_CHARS_MAX = 20_000;
const CUT = 'Parts were left out: ask for less at once, or see the console.';

const { addResolution, get } = endpoints.uncertainties;

/** Calls the row of a tool for the person or program of the message. Refusals are answers too. */
export async function callTool(
  deps: AssistantDeps,
  message: ProtocolMessage,
  tool: AssistantTool,
  input: object,
): Promise<ToolOutcome> {
  const { workspaceId } = message.principal;
  assert(workspaceId !== null, 'the token of an assistant is for one workspace');
  const body = { workspaceId, ...tool.presets, ...input };
  try {
    if (tool.row.name === addResolution.name) {
      const outcome = await leaveToConsole(deps, message, body);
      if (outcome !== null) return outcome;
    }
    return presentAnswer(deps, tool, await message.call(tool.row, body));
  } catch (error) {
    return { kind: 'refusal', text: explain(deps, message, error) };
  }
}

/** The outcome for a question that only the console settles; null: the assistant may answer it. */
async function leaveToConsole(
  { database, baseUrl }: AssistantDeps,
  { call }: ProtocolMessage,
  { workspaceId, ...body }: { workspaceId: string; uncertaintyId?: unknown },
): Promise<ToolOutcome | null> {
  const { uncertaintyId } = body;
  const answer = await call(get, { workspaceId, uncertaintyId });
  const { uncertainty } = answer as ResponseOf<typeof get>;
  if (!isForConsole(uncertainty)) return null;
  const workspace = await readWorkspace(database.reader, workspaceId);
  const url = `${baseUrl}/w/${workspace?.slug ?? ''}/inbox/${uncertainty.uncertaintyId}`;
  if (uncertainty.resolution !== null) {
    return { kind: 'refusal', text: `It is settled already: ${url} shows how, and by whom.` };
  }
  const text =
    'Nothing was changed. Only a person at the console settles this question: an approval, a risk ' +
    `or an action of a tool. Give them this link: ${url}`;
  return { kind: 'console', text, url };
}

/**
 * Makes a text and data of an answer, which say the same: assistants show their models one of both.
 * All that somebody wrote is in the fence.
 */
function presentAnswer(
  { secretKey }: AssistantDeps,
  { name, state, quote }: AssistantTool,
  answer: object,
): ToolOutcome {
  const { ok: _ok, nextCursor, ...rest } = answer as { ok: true; nextCursor?: unknown };
  const { facts, isCut: lacksFacts } = factsOf(rest);
  const whole = quote(answer);
  const text = whole.slice(0, QUOTE_CHARS_MAX).toWellFormed();
  const written = { title: '', text, source: 'agents', reference: name };
  const quoted = text === '' ? [] : [fenceUntrusted(written, secretKey)];
  const cut = lacksFacts || text.length < whole.length ? [CUT] : [];
  const lines = state(answer);
  // The other lines are facts.
  const [summary = ''] = lines.split('\n', 1);
  const content = {
    summary: [summary, ...cut].join(' '),
    ...facts,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    ...(quoted.length === 0 ? {} : { quoted: quoted[0] }),
  };
  return { kind: 'answer', text: [lines, ...cut, ...quoted].join('\n'), content };
}

/** A refusal as a sentence that says what to do. Only the log gets the cause of another error. */
function explain({ log }: AssistantDeps, { requestId }: ProtocolMessage, error: unknown): string {
  if (!(error instanceof HubError)) {
    log.error({ reqId: requestId, err: error }, 'A call by an assistant failed.');
    return `Internal error. The log of the hub has the cause under the request id ${requestId}.`;
  }
  const { code, message, retryAfterMs } = error;
  const wait =
    retryAfterMs === undefined ? '' : ` Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`;
  return `${message}${wait} (${code})`;
}
