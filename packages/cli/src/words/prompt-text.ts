import { TEXT_CHARS_MAX } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** @throws {CliError} USAGE: the prompt is empty or too long. */
export function checkPrompt(prompt: string): string {
  if (prompt.trim() === '') {
    throw new CliError(exitCodes.usage, 'USAGE', 'The prompt is empty. Describe the task.');
  }
  if (prompt.length > TEXT_CHARS_MAX) {
    const message = `The prompt has ${prompt.length} characters; the limit is ${TEXT_CHARS_MAX}.`;
    throw new CliError(exitCodes.usage, 'USAGE', message);
  }
  return prompt;
}
