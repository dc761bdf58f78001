import type { CloudAiProviderName, CloudAiProviderOptions } from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

/**
 * The environment variable of each provider's key. There is no option for the key, because other
 * processes on the machine could read it. A compatible server never gets the key of OpenAI.
 */
export const keyVariables: Readonly<Record<CloudAiProviderName, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  'openai-compatible': 'OPENAI_COMPATIBLE_API_KEY',
};

/**
 * Reads the provider from the options and its key from the environment.
 * @throws {CliError} USAGE, PROVIDER_KEY_MISSING.
 */
export function readProviderOptions(
  choice: { provider: CloudAiProviderName; baseUrl?: string },
  env: NodeJS.ProcessEnv,
): CloudAiProviderOptions {
  const { provider: name, baseUrl } = choice;
  if (name === 'openai-compatible' && baseUrl === undefined) {
    throw usage(
      'openai-compatible requires a base URL, such as --base-url http://127.0.0.1:11434/v1',
    );
  }
  if (baseUrl !== undefined) checkUrl(baseUrl);
  const variable = keyVariables[name];
  const apiKey = env[variable]?.trim() || undefined;
  if (apiKey === undefined && name !== 'openai-compatible') {
    const message = `${variable} is not set; ${name} would reject every call.`;
    throw new CliError(exitCodes.usage, 'PROVIDER_KEY_MISSING', message, {
      fix: `export ${variable}=… in the shell that starts the executor.`,
    });
  }
  // Reject a bad value here: a request error would quote it.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw usage(`${variable} must be printable ASCII without spaces. Copy it again.`);
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
    throw usage(
      '--base-url must be a URL such as https://api.example.dev/v1, without credentials.',
    );
  }
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, 'USAGE', message);
}
