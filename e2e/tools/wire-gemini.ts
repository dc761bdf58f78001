import { type JsonBody, resolveCall, type Wire } from './wire.ts';

const callPath = /^\/v1(?:beta)?\/models\/([^/:]+):streamGenerateContent$/;
const asidePath = /^\/v1(?:beta)?\/models\/[^/:]+:generateContent$/;
/** Gemini CLI first asks a small model how hard the work is, and chooses the model by that. */
const classification = { complexity_reasoning: 'A simple step.', complexity_score: 10 };

/** Google's Gemini API, as Gemini CLI calls it: `POST …:streamGenerateContent` with a stream. */
export const geminiWire: Wire = {
  name: 'gemini',
  isCall: (method, path) => method === 'POST' && callPath.test(path),
  answerAside(method, path) {
    if (method !== 'POST') return null;
    if (path.endsWith(':countTokens')) return { status: 200, body: { totalTokens: 10 } };
    if (!asidePath.test(path)) return null;
    const parts = [{ text: JSON.stringify(classification) }];
    const candidate = { index: 0, content: { role: 'model', parts }, finishReason: 'STOP' };
    return { status: 200, body: { candidates: [candidate] } };
  },
  personTexts: (body) =>
    (body?.contents ?? [])
      .filter((content: JsonBody) => content.role === 'user')
      .flatMap((content: JsonBody) =>
        (content.parts ?? []).map((part: JsonBody) => part.text ?? ''),
      ),
  modelOf: (_body, path) => callPath.exec(path)?.[1] ?? '',
  events({ text, calls, stop, spent }, { body, serial }) {
    const parts = [
      ...(text === '' ? [] : [{ text }]),
      ...calls.map((call, index) => ({
        functionCall: {
          id: `call_${serial}_${index}`,
          ...translate(resolveCall(call, geminiWire.personTexts(body))),
        },
      })),
    ];
    const reasons = { end: 'STOP', max_tokens: 'MAX_TOKENS', refusal: 'SAFETY' };
    const usageMetadata = {
      promptTokenCount: spent.input + spent.cached,
      cachedContentTokenCount: spent.cached,
      candidatesTokenCount: spent.output,
      totalTokenCount: spent.input + spent.cached + spent.output,
    };
    const candidate = { index: 0, content: { role: 'model', parts }, finishReason: reasons[stop] };
    return [{ data: { candidates: [candidate], usageMetadata } }];
  },
  errorBody: (error) => ({
    error: { code: 500, status: error.type.toUpperCase(), message: error.message },
  }),
  limitReply: () => ({
    body: { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded.' } },
    headers: {},
  }),
};

function translate(call: ReturnType<typeof resolveCall>): { name: string; args: object } {
  if (call.tool === 'native') return { name: call.name, args: call.input };
  if (call.tool === 'shell') {
    return { name: 'run_shell_command', args: { command: call.command } };
  }
  return { name: 'write_file', args: { file_path: call.path, content: call.text } };
}
