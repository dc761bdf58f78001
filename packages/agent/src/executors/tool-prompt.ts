import type { ExecutorRequest } from './executor.ts';

/**
 * The prompt for a coding tool: the job's text, and how a job ends. It never begins with the job's
 * text: Claude Code takes a prompt that begins with `/` for a command of its own.
 *
 * @param canWriteResult whether the tool can write `resultFile`.
 */
export function composeToolPrompt(request: ExecutorRequest, canWriteResult: boolean): string {
  const { promptText, isReadOnly, resultFile } = request;
  const changes = isReadOnly
    ? '- This task is read-only: do not change files of the repository.'
    : '- Do not commit or push. Your changes are committed for you when you end.';
  const question = canWriteResult
    ? [
        '- No person can answer you while you work. If you cannot continue without an answer,',
        `  write this JSON to the file ${resultFile} and end:`,
        '  {"outcome": "blocked", "message": "your question"}',
      ]
    : [
        '- No person can answer you while you work. End with what you found, and with your question.',
      ];
  const text = promptText.trimEnd();
  return ['Your task:', '', text, '', 'How to end:', changes, ...question, ''].join('\n');
}
