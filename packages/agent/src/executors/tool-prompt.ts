import type { ExecutorRequest } from './executor.ts';
import { jobServerLines } from './job-server.ts';

/**
 * The prompt for a coding tool: the job's text, and how a job ends. It never begins with the job's
 * text: Claude Code takes a prompt that begins with `/` for a command of its own.
 *
 * @param means whether the tool can write `resultFile`, and whether it has the job's own server.
 */
export function composeToolPrompt(
  request: ExecutorRequest,
  { canWriteResult, hasServer }: { canWriteResult: boolean; hasServer: boolean },
): string {
  const { promptText, isReadOnly, resultFile } = request;
  const changes = isReadOnly
    ? '- This task is read-only: do not change files of the repository.'
    : '- Do not commit or push. Your changes are committed for you when you end.';
  const condition = hasServer
    ? '- If these tools are missing and you cannot continue without an answer,'
    : '- No person can answer you while you work. If you cannot continue without an answer,';
  const question = canWriteResult
    ? [
        condition,
        `  write this JSON to the file ${resultFile} and end:`,
        '  {"outcome": "blocked", "message": "your question"}',
      ]
    : ['- If no person can answer you, end with what you found, and with your question.'];
  const text = promptText.trimEnd();
  const tools = hasServer ? [...jobServerLines, ''] : [];
  return ['Your task:', '', text, '', ...tools, 'How to end:', changes, ...question, ''].join('\n');
}
