import { isAbsolute, join } from 'node:path';
import type { Call } from './turns.ts';
import { type JsonBody, resolveCall, type Wire, type WireEvent } from './wire.ts';

/** Anthropic's Messages API, as Claude Code calls it: `POST /v1/messages` with a stream. */
export const anthropicWire: Wire = {
  name: 'anthropic',
  isCall: (method, path) => method === 'POST' && path === '/v1/messages',
  answerAside(method, path, body) {
    // Reachability, before the first call.
    if (method === 'HEAD' && path === '/') return { status: 200, body: '' };
    if (method === 'POST' && path === '/v1/messages/count_tokens') {
      return { status: 200, body: { input_tokens: 10 } };
    }
    // Titles and the like: calls without tools are not of the conversation.
    const isAside = method === 'POST' && path === '/v1/messages' && !body?.tools?.length;
    if (!isAside) return null;
    if (body?.stream) {
      const events = answer('A title', [], 'end_turn', body, usageOf(1, 1, 0, 0), 0);
      return { status: 200, body: events.map(sse).join('') };
    }
    const message = {
      ...messageOf(body, 0),
      content: [{ type: 'text', text: 'A title' }],
      stop_reason: 'end_turn',
      usage: usageOf(1, 1, 0, 0),
    };
    return { status: 200, body: message };
  },
  personTexts: (body) =>
    (body?.messages ?? [])
      .filter((message: JsonBody) => message.role === 'user')
      .flatMap((message: JsonBody) =>
        typeof message.content === 'string'
          ? [message.content]
          : message.content.map((part: JsonBody) => part.text ?? ''),
      ),
  modelOf: (body) => String(body?.model ?? ''),
  events({ text, calls, stop, spent }, { body, serial }) {
    const { input, output, cached, written } = spent;
    const reasons = { end: 'end_turn', max_tokens: 'max_tokens', refusal: 'refusal' };
    const reason = calls.length > 0 ? 'tool_use' : reasons[stop];
    return answer(text, calls, reason, body, usageOf(input, output, cached, written), serial);
  },
  errorBody: (error) => ({ type: 'error', error }),
  // As a login gets it. With a key, no header names an account.
  limitReply(resetsAtMs) {
    const resetsAt = String(resetsAtMs / 1_000);
    const prefix = 'anthropic-ratelimit-unified';
    return {
      body: { type: 'error', error: { type: 'rate_limit_error', message: 'Try again later.' } },
      headers: {
        [`${prefix}-status`]: 'rejected',
        [`${prefix}-reset`]: resetsAt,
        [`${prefix}-representative-claim`]: 'five_hour',
        [`${prefix}-5h-status`]: 'rejected',
        [`${prefix}-5h-reset`]: resetsAt,
        [`${prefix}-5h-utilization`]: '1.0',
      },
    };
  },
};

function usageOf(input: number, output: number, cached: number, written: number): object {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
  };
}

function messageOf(body: JsonBody, serial: number) {
  return {
    id: `msg_${serial}`,
    type: 'message',
    role: 'assistant',
    model: body?.model,
    content: [] as object[],
    stop_reason: null as string | null,
    stop_sequence: null,
  };
}

function answer(
  text: string,
  calls: readonly Call[],
  stopReason: string,
  body: JsonBody,
  usage: object,
  serial: number,
): WireEvent[] {
  const events: object[] = [
    { type: 'message_start', message: { ...messageOf(body, serial), usage } },
  ];
  const blocks: [start: object, delta: object][] = [];
  if (text !== '') {
    blocks.push([
      { type: 'text', text: '' },
      { type: 'text_delta', text },
    ]);
  }
  for (const [index, call] of calls.entries()) {
    const { name, input } = translate(call, body);
    blocks.push([
      { type: 'tool_use', id: `toolu_${serial}_${index}`, name, input: {} },
      { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    ]);
  }
  for (const [index, [start, delta]] of blocks.entries()) {
    events.push({ type: 'content_block_start', index, content_block: start });
    events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason: stopReason, stop_sequence: null };
  events.push({ type: 'message_delta', delta, usage }, { type: 'message_stop' });
  return events.map((data) => ({ event: (data as { type: string }).type, data }));
}

function translate(asked: Call, body: JsonBody): { name: string; input: object } {
  const call = resolveCall(asked, anthropicWire.personTexts(body));
  if (call.tool === 'native') return { name: call.name, input: call.input };
  const isOpencode = body?.tools?.some((tool: JsonBody) => tool.name === 'bash') ?? false;
  if (call.tool === 'shell') {
    const input = { command: call.command, description: 'A command' };
    return { name: isOpencode ? 'bash' : 'Bash', input };
  }
  const path = isAbsolute(call.path) ? call.path : join(workingDirectory(body), call.path);
  if (isOpencode) return { name: 'write', input: { filePath: path, content: call.text } };
  return { name: 'Write', input: { file_path: path, content: call.text } };
}

/** Claude Code and opencode tell the model their working directory. */
function workingDirectory(body: JsonBody): string {
  const [, path] = /[Ww]orking directory: ([^\n"\\]+)/.exec(JSON.stringify(body)) ?? [];
  if (path === undefined) throw new Error('The request does not name the working directory.');
  return path;
}

function sse({ event, data }: WireEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
