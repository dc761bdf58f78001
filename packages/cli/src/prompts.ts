import { isCancel, text } from '@clack/prompts';
import { CliError } from './cli-error.ts';
import { exitCodes, InterruptedError } from './exit-codes.ts';
import type { Io } from './io.ts';

/**
 * Asks for what an option or argument did not say, where a person is there to be asked.
 * @throws {CliError} USAGE with `missing` where nobody is. {InterruptedError} Ctrl-C or Escape.
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
    validate: (value) => (value?.trim() ? undefined : 'Please type something.'),
  });
  if (isCancel(answer)) throw new InterruptedError('SIGINT');
  return answer.trim();
}
