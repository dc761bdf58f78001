import { isCancel, select, text } from '@clack/prompts';
import { CliError } from '../cli-error.ts';
import { exitCodes, InterruptedError } from '../exit-codes.ts';
import type { Io } from './io.ts';
import { oneLine } from './text.ts';

/**
 * Asks for a value that was given neither as an option nor as an argument, if a person can answer.
 * @throws {CliError} USAGE with `missing` if not. {InterruptedError} Ctrl-C or Escape.
 */
export async function askText(
  io: Io,
  question: { message: string; placeholder: string; missing: string },
): Promise<string> {
  if (!io.isInteractive) throw new CliError(exitCodes.usage, 'USAGE', question.missing);
  const { message, placeholder } = question;
  const answer = await text({
    message,
    placeholder,
    validate: (value) => (value?.trim() ? undefined : 'Enter a value.'),
  });
  if (isCancel(answer)) throw new InterruptedError('SIGINT');
  return answer.trim();
}

/**
 * Asks a person to choose a row, and returns its place.
 * @throws {InterruptedError} Ctrl-C or Escape.
 */
export async function askChoice(
  io: Io,
  message: string,
  rows: readonly { label: string; hint: string }[],
  initial: number,
): Promise<number> {
  const options = rows.map(({ label, hint }, value) => ({
    value,
    // The library writes to the terminal itself.
    label: oneLine(label),
    ...(hint === '' ? {} : { hint: oneLine(hint) }),
  }));
  const answer = await select({ message, options, initialValue: initial, signal: io.signal });
  if (isCancel(answer)) throw new InterruptedError('SIGINT');
  return answer;
}
