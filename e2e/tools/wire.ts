import type { Call, Turn } from './turns.ts';

/** How one provider's API reads requests and writes answers. */
export interface Wire {
  readonly name: string;
  /** Whether a request is a call of the model. */
  isCall(method: string, path: string): boolean;
  /** An answer to another request that tools are known to send; null if the request is unknown. */
  answerAside(method: string, path: string, body: JsonBody): AsideAnswer | null;
  /** The texts that came from people, oldest first; the first with a tag names the scenario. */
  personTexts(body: JsonBody): string[];
  modelOf(body: JsonBody, path: string): string;
  /** The events of an answer, in order. */
  events(turn: Turn & { kind: 'answer' }, request: WireRequest): WireEvent[];
  errorBody(error: { type: string; message: string; code?: string }): object;
  /** The answer of an account whose limit is reset then. */
  limitReply(resetsAtMs: number): { body: object; headers: Readonly<Record<string, string>> };
}

export interface AsideAnswer {
  status: number;
  body: object | string;
}

export interface WireRequest {
  body: JsonBody;
  model: string;
  /** Counts the answers of this server, for IDs. */
  serial: number;
}

export interface WireEvent {
  event?: string;
  data: object;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of foreign programs, read defensively.
export type JsonBody = any;

/** Fills in the path of the result file, which the agent tells in the prompt. */
export function resolveCall(
  call: Call,
  personTexts: readonly string[],
): Exclude<Call, { tool: 'result' }> {
  if (call.tool !== 'result') return call;
  const [, path] = /to the file (\/\S+)/.exec(personTexts.join('\n')) ?? [];
  if (path === undefined) throw new Error('The prompt names no result file.');
  return { tool: 'write', path, text: `${JSON.stringify(call.json)}\n` };
}
