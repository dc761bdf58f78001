import type { Job } from '@signalbox/contract';
import type { KnownAnswer } from './conversation.ts';
import { jobServerLines } from './job-server.ts';
import { linesOfKind } from './kind-lines.ts';

/** The text of a job, and what its tool may do. */
export interface PromptParts {
  job: Job;
  /** The job's prompt, with the answers to its earlier questions. */
  promptText: string;
  /** The job may read but not change files. */
  isReadOnly: boolean;
}

/** The means of a tool to report. */
export interface PromptMeans {
  /** The file to which the tool can write its result; null: it can write none. */
  resultFile: string | null;
  /** The tool has the job's own MCP server. */
  hasServer: boolean;
}

/**
 * The prompt for a coding tool: the job's text, what its kind means, and how a job ends. It never
 * begins with the job's text: tools take a prompt that begins with `/` for a command of their own.
 */
export function composeToolPrompt(
  { job, promptText, isReadOnly }: PromptParts,
  { resultFile, hasServer }: PromptMeans,
): string {
  const changes = isReadOnly
    ? '- This task is read-only: do not change files of the repository.'
    : '- Do not commit or push. Your changes are committed for you when you end.';
  const sections = [
    ['Your task:'],
    [promptText.trimEnd()],
    linesOfKind(job.kind),
    ...(hasServer ? [jobServerLines] : []),
    ['How to end:', changes, ...questionLines(resultFile, hasServer)],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function questionLines(resultFile: string | null, hasServer: boolean): string[] {
  if (resultFile === null) {
    return ['- If no person can answer you, end with what you found, and with your question.'];
  }
  const condition = hasServer
    ? '- If these tools are missing and you cannot continue without an answer,'
    : '- No person can answer you while you work. If you cannot continue without an answer,';
  return [
    condition,
    `  write this JSON to the file ${resultFile} and end:`,
    '  {"outcome": "blocked", "message": "your question"}',
  ];
}

/** Some tools show an interruption to the model as a refusal, so this says that it was not one. */
export function resumedPrompt(answers: readonly KnownAnswer[]): string {
  const lines = answers.map(({ prompt, mode, label, isAboutAction }) => {
    const question = `- Question: ${prompt}`;
    if (mode === 'dismissed') return `${question}\n  A person dismissed it: continue without it.`;
    const hint = isAboutAction
      ? ' If it allows the action and you still need it, do it again.'
      : '';
    return `${question}\n  Answer (${mode}): ${label}${hint}`;
  });
  const told = lines.length === 0 ? [] : ['Answers by a person:', ...lines];
  return [
    'Signalbox: your work on this job was interrupted from outside and continues now, in the',
    'same directory. The interruption was no refusal: an action that it stopped may be repeated.',
    'An action that was allowed may have run already: look at its effects before you repeat it.',
    ...told,
    'Continue the job until it is done.',
  ].join('\n');
}

/** Says in the timeline that the tool continues no session. `why` begins the sentence. */
export function beginsAgain(why: string): string {
  return `signalbox: ${why}. It begins again, with the questions and answers in its prompt.`;
}
