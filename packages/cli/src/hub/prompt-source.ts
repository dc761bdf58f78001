import { readFile } from 'node:fs/promises';
import { BODY_BYTES_MAX } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type EditedText, editText } from '../terminal/editor.ts';
import type { Io } from '../terminal/io.ts';
import { askText } from '../terminal/prompts.ts';
import { readText } from '../terminal/stdin-text.ts';
import { checkPrompt } from '../words/prompt-text.ts';
import { fillPrompt } from './job-template.ts';

/** Where the prompt of a job comes from. */
export interface PromptOptions {
  file?: string;
  /** The values of blanks in the prompt of a template, by their names. */
  set?: Record<string, string>;
  edit?: true;
}

export interface Prompt {
  text: string;
  /** The file in which the person wrote it. It is kept until the hub has the job. */
  edited: EditedText | null;
}

/**
 * Reads the prompt from the argument, standard input, a file or the editor, or fills that of a
 * template.
 * @throws {CliError} USAGE, FILE_UNREADABLE, TEMPLATE_INCOMPLETE, EDITOR_MISSING, EDITOR_FAILED.
 */
export async function readPrompt(
  io: Io,
  argument: string | undefined,
  options: PromptOptions,
  template?: { name: string; prompt: string },
): Promise<Prompt> {
  const { file, set, edit } = options;
  if (file !== undefined && (template !== undefined || argument !== undefined)) {
    throw usage('--file is the whole prompt: give no other one.');
  }
  if (set !== undefined && template === undefined)
    throw usage('--set needs --template, and a prompt in it.');
  const given = await readGiven(io, argument, options, template);
  const hasEditor = Boolean(io.env.VISUAL || io.env.EDITOR);
  if (edit || (given === null && io.isInteractive && hasEditor))
    return await write(io, given ?? '');
  if (given !== null) return { text: checkPrompt(given), edited: null };
  const text = await askText(io, {
    message: 'What should the agent do?',
    placeholder: 'Add a health check to the API.',
    missing: 'The prompt is missing. Give it as an argument, or - to read it from a pipe.',
  });
  return { text: checkPrompt(text), edited: null };
}

async function readGiven(
  io: Io,
  argument: string | undefined,
  { file, set = {}, edit }: PromptOptions,
  template: { name: string; prompt: string } | undefined,
): Promise<string | null> {
  if (file !== undefined) return (await readPromptFile(file)).trimEnd();
  const hasNoOther = template === undefined && !edit;
  const isPiped = argument === '-' || (argument === undefined && hasNoOther && !io.stdin.isTTY);
  const text = isPiped ? (await readText(io)).trimEnd() : argument;
  if (template === undefined) return text ?? null;
  return fillPrompt(template, text === undefined ? set : { prompt: text, ...set });
}

async function write(io: Io, beginning: string): Promise<Prompt> {
  const edited = await editText(io, beginning === '' ? '' : `${beginning}\n`, 'PROMPT.md');
  const text = edited.text.trimEnd();
  if (text === '') await edited.remove();
  return { text: checkPrompt(text), edited };
}

/**
 * @param bytesMax the size limit of one request unless given.
 * @throws {CliError} FILE_UNREADABLE
 */
export async function readPromptFile(
  file: string,
  bytesMax: number = BODY_BYTES_MAX,
): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
    if (bytes.length > bytesMax) throw new Error(`it exceeds ${bytesMax} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8 text' : message;
    const text = `${file} cannot be read: ${reason}.`;
    throw new CliError(exitCodes.usage, 'FILE_UNREADABLE', text, { cause: error });
  }
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, 'USAGE', message);
}
