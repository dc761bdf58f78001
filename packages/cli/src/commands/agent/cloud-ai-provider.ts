import type { CloudAiProviderName, CloudAiProviderOptions } from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

/**
 * Where each provider's key is looked for: always in the environment, since an option would show
 * it to every process of the machine. A compatible server is not sent the key of OpenAI.
 */
export const keyVariables: Readonly<Record<CloudAiProviderName, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  'openai-compatible': 'OPENAI_COMPATIBLE_API_KEY',
};

/**
 * The provider that the options name, with the key of the environment.
 * @throws {CliError} USAGE, PROVIDER_KEY_MISSING.
 */
export function readProviderOptions(
  choice: { provider: CloudAiProviderName; baseUrl?: string },
  env: NodeJS.ProcessEnv,
): CloudAiProviderOptions {
  const { provider: name, baseUrl } = choice;
  if (name === 'openai-compatible' && baseUrl === undefined) {
    throw usage('Say where the model answers: --base-url http://127.0.0.1:11434/v1');
  }
  if (baseUrl !== undefined) checkUrl(baseUrl);
  const variable = keyVariables[name];
  const apiKey = env[variable]?.trim() || undefined;
  if (apiKey === undefined && name !== 'openai-compatible') {
    const message = `${variable} is not set, so ${name} would refuse every call.`;
    throw new CliError(exitCodes.usage, 'PROVIDER_KEY_MISSING', message, {
      fix: `export ${variable}=… in the shell that starts the executor.`,
    });
  }
  // A bad value must be refused here: a request would repeat it in its error.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw usage(`${variable} must be visible ASCII without spaces; check how it was copied.`);
  }
  return {
    name,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

function checkUrl(text: string): void {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw usage('--base-url takes an address such as https://api.example.dev/v1, without a key.');
  }
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, 'USAGE', message);
}
