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
  /** May be left out for `openai-compatible` alone: a model on one's own machine asks for none. */
  apiKey?: string | undefined;
  /** Where the provider answers, with its version, as in `http://127.0.0.1:11434/v1`. */
  baseUrl?: string | undefined;
}

export interface CloudAiQuestion {
  model: string;
  input: CloudAiInput;
  responseSchema: Record<string, unknown> | null;
  /** Absent: the most that the library knows the model to give. */
  outputTokensMax?: number | undefined;
}

/** Why the model stopped; `cut`: at the most that it may give. */
export type CloudAiFinish = 'whole' | 'cut' | 'refused' | 'other';

export interface CloudAiAnswer {
  text: string;
  finish: CloudAiFinish;
  usage: Usage;
}

/** Asks a model once. Whatever it throws is for `judgeProviderFailure`. */
export interface CloudAiProvider {
  readonly name: CloudAiProviderName;
  ask(question: CloudAiQuestion, signal: AbortSignal): Promise<CloudAiAnswer>;
}

/** Loads the library of one provider, and only of that. */
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
  if (baseUrl === undefined) throw new TypeError('openai-compatible needs the base URL.');
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    ...{ ...common, baseURL: baseUrl, name: 'compatible', supportsStructuredOutputs: true },
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
      // What a team asks is not kept at the provider beyond the call, and a schema of any form is
      // taken; the answer is held against it here.
      openai: { store: false, strictJsonSchema: false },
    },
    abortSignal: signal,
  };
}

function messageOf(message: CloudAiInput['messages'][number]): LanguageModelV4Message {
  return { role: message.role, content: [{ type: 'text', text: message.content }] };
}
