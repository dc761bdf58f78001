import { type JsonBody, resolveCall, type Wire } from './wire.ts';

const titlePrompts = [
  'Your task is to generate a very short title',
  'Generate a concise, single-line task title',
];

/** OpenAI's Responses API, as Codex calls it: `POST /v1/responses` with a stream. */
export const openAiWire: Wire = {
  name: 'openai',
  isCall: (method, path) => method === 'POST' && path === '/v1/responses',
  answerAside(method, path, body) {
    if (method === 'GET' && path === '/v1/models') {
      return { status: 200, body: { data: [], models: [] } };
    }
    // Codex and its ACP adapter name a session in the background: at any time, or never if it is
    // ended first.
    const isTitle = openAiWire
      .personTexts(body)
      .some((text) => titlePrompts.some((prompt) => text.startsWith(prompt)));
    if (!openAiWire.isCall(method, path) || !isTitle) return null;
    const turn = { kind: 'answer', text: '{"title":"A title"}', calls: [], stop: 'end' } as const;
    const spent = { input: 1, output: 1, cached: 0, written: 0 };
    const request = { body, model: openAiWire.modelOf(body, path), serial: 0 };
    const events = openAiWire.events({ ...turn, spent }, request);
    return {
      status: 200,
      body: events.map(({ data }) => `data: ${JSON.stringify(data)}\n\n`).join(''),
    };
  },
  personTexts: (body) =>
    (body?.input ?? [])
      .filter((item: JsonBody) => item.role === 'user')
      .flatMap((item: JsonBody) => (item.content ?? []).map((part: JsonBody) => part.text ?? '')),
  modelOf: (body) => String(body?.model ?? ''),
  events({ text, calls, stop, spent }, { body, serial }) {
    const id = `resp_${serial}`;
    const items = calls.map((call, index) =>
      itemOf(resolveCall(call, openAiWire.personTexts(body)), `${serial}_${index}`),
    );
    if (text !== '' || stop !== 'end') items.push(messageOf(text, serial));
    const usage = {
      input_tokens: spent.input + spent.cached,
      input_tokens_details: { cached_tokens: spent.cached },
      output_tokens: spent.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: spent.input + spent.cached + spent.output,
    };
    const response = { id, object: 'response', model: body?.model, output: items, usage };
    const isCut = stop === 'max_tokens';
    const end = isCut
      ? {
          type: 'response.incomplete',
          response: { ...response, incomplete_details: { reason: 'max_output_tokens' } },
        }
      : { type: 'response.completed', response };
    const events = [
      { type: 'response.created', response: { id } },
      ...items.flatMap((item, index) => [
        { type: 'response.output_item.added', output_index: index, item },
        { type: 'response.output_item.done', output_index: index, item },
      ]),
      end,
    ];
    return events.map((data) => ({ event: data.type, data }));
  },
  errorBody: (error) => ({ error }),
  limitReply: (resetsAtMs) => ({
    body: {
      error: {
        type: 'usage_limit_reached',
        message: 'The usage limit has been reached',
        plan_type: 'plus',
        resets_at: resetsAtMs / 1_000,
      },
    },
    headers: {},
  }),
};

function messageOf(text: string, serial: number): object {
  return {
    type: 'message',
    id: `msg_${serial}`,
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  };
}

function itemOf(call: ReturnType<typeof resolveCall>, id: string): object {
  const ids = { id: `item_${id}`, call_id: `call_${id}` };
  if (call.tool === 'write') {
    const lines = call.text.replace(/\n$/, '').split('\n');
    const input = [
      '*** Begin Patch',
      `*** Add File: ${call.path}`,
      ...lines.map((line) => `+${line}`),
      '*** End Patch',
      '',
    ].join('\n');
    return { type: 'custom_tool_call', ...ids, name: 'apply_patch', input };
  }
  if (call.tool === 'shell') {
    const input = JSON.stringify({ cmd: call.command });
    return { type: 'function_call', ...ids, name: 'exec_command', arguments: input };
  }
  const { name, input, namespace } = call;
  const place = namespace === undefined ? {} : { namespace };
  return { type: 'function_call', ...ids, name, ...place, arguments: JSON.stringify(input) };
}
