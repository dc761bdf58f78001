import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
} from '@ai-sdk/provider';
import type { CloudAiInput, Usage } from '@signalbox/contract';

export const cloudAiProviderNames = ['anthropic', 'openai', 'openai-compatible'] as const;
export type CloudAiProviderName = (typeof cloudAiProviderNames)[number];

export interface CloudAiProviderOptions {
  name: CloudAiProviderName;
  /** Optional for `openai-compatible` only: a local model often requires no key. */
  apiKey?: string | undefined;
  /** The provider's base URL including its version, as in `http://127.0.0.1:11434/v1`. */
  baseUrl?: string | undefined;
}

export interface CloudAiQuestion {
  model: string;
  input: CloudAiInput;
  responseSchema: Record<string, unknown> | null;
  /** Absent: the model's limit, as far as the library knows it. */
  outputTokensMax?: number | undefined;
}

/** Why the model stopped. `cut`: it reached its output limit. */
export type CloudAiFinish = 'whole' | 'cut' | 'refused' | 'other';

export interface CloudAiAnswer {
  text: string;
  finish: CloudAiFinish;
  usage: Usage;
}

/** Calls a model once. Pass its errors to `judgeProviderFailure`. */
export interface CloudAiProvider {
  readonly name: CloudAiProviderName;
  ask(question: CloudAiQuestion, signal: AbortSignal): Promise<CloudAiAnswer>;
}

/** Loads the library of the selected provider only. */
export async function createCloudAiProvider(
  options: CloudAiProviderOptions,
): Promise<CloudAiProvider> {
  const openModel = await loadProvider(options);
  return {
    name: options.name,
    async ask(question, signal) {
      const answer = await openModel(question.model).doGenerate(callOf(question, signal));
      const texts = answer.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      const { inputTokens, outputTokens } = answer.usage;
      return {
        text: answer.structuredOutputText ?? texts.join(''),
        finish: finishes[answer.finishReason.unified] ?? 'other',
        usage: {
          inputTokens: inputTokens.total ?? 0,
          outputTokens: outputTokens.total ?? 0,
          model: answer.response?.modelId ?? question.model,
        },
      };
    },
  };
}

async function loadProvider(
  options: CloudAiProviderOptions,
): Promise<(model: string) => LanguageModelV4> {
  const { name, apiKey, baseUrl } = options;
  const common = {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  };
  if (name === 'anthropic') return (await import('@ai-sdk/anthropic')).createAnthropic(common);
  if (name === 'openai') return (await import('@ai-sdk/openai')).createOpenAI(common).responses;
  if (baseUrl === undefined) throw new TypeError('openai-compatible requires a base URL.');
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    ...common,
    baseURL: baseUrl,
    name: 'compatible',
    supportsStructuredOutputs: true,
  });
}

const finishes: Readonly<Record<string, CloudAiFinish>> = {
  stop: 'whole',
  length: 'cut',
  'content-filter': 'refused',
};

function callOf(question: CloudAiQuestion, signal: AbortSignal): LanguageModelV4CallOptions {
  const { input, responseSchema, outputTokensMax } = question;
  return {
    prompt: [
      ...(input.system === undefined ? [] : [{ role: 'system', content: input.system } as const]),
      ...input.messages.map(messageOf),
    ],
    ...(outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax }),
    ...(responseSchema === null
      ? {}
      : { responseFormat: { type: 'json', schema: responseSchema, name: 'answer' } }),
    providerOptions: {
      // `store: false`: the provider must not keep a team's prompts after the call. Non-strict
      // schemas accept every JSON Schema; `readJsonAnswer` validates the answer.
      openai: { store: false, strictJsonSchema: false },
    },
    abortSignal: signal,
  };
}

function messageOf(message: CloudAiInput['messages'][number]): LanguageModelV4Message {
  return { role: message.role, content: [{ type: 'text', text: message.content }] };
}
