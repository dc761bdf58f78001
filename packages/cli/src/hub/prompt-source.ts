import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BODY_BYTES_MAX } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { nearestOf } from '../find/nearest.ts';
import { type EditedText, editText } from '../terminal/editor.ts';
import type { Io } from '../terminal/io.ts';
import { askText } from '../terminal/prompts.ts';
import { readText } from '../terminal/stdin-text.ts';
import { checkPrompt } from '../words/prompt-text.ts';

/** Where the prompt of a job comes from. */
export interface PromptOptions {
  file?: string;
  template?: string;
  /** Values of the template, by their names. */
  set?: Record<string, string>;
  edit?: true;
}

export interface Prompt {
  text: string;
  /** The file in which the person wrote it. It is kept until the hub has the job. */
  edited: EditedText | null;
}

/**
 * Reads the prompt from the argument, standard input, a file, a template or the editor.
 * @throws {CliError} USAGE, FILE_UNREADABLE, TEMPLATE_NOT_FOUND, EDITOR_MISSING, EDITOR_FAILED.
 */
export async function readPrompt(
  io: Io,
  argument: string | undefined,
  options: PromptOptions,
): Promise<Prompt> {
  const { file, template, set, edit } = options;
  if (file !== undefined && (template !== undefined || argument !== undefined)) {
    throw usage('--file is the whole prompt: give no other one.');
  }
  if (set !== undefined && template === undefined) throw usage('--set needs --template.');
  const given = await readGiven(io, argument, options);
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
  { file, template, set = {}, edit }: PromptOptions,
): Promise<string | null> {
  if (file !== undefined) return (await readPromptFile(file)).trimEnd();
  const hasNoOther = template === undefined && !edit;
  const isPiped = argument === '-' || (argument === undefined && hasNoOther && !io.stdin.isTTY);
  const text = isPiped ? (await readText(io)).trimEnd() : argument;
  if (template === undefined) return text ?? null;
  return await fillTemplate(template, text === undefined ? set : { prompt: text, ...set });
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

/** In a repository, templates are files such as `.signalbox/prompts/review.md`. */
const TEMPLATES = join('.signalbox', 'prompts');

/**
 * Fills the template of a name, as `{{prompt}}` and `{{name}}` say.
 * @throws {CliError} TEMPLATE_NOT_FOUND, TEMPLATE_INCOMPLETE, FILE_UNREADABLE.
 */
async function fillTemplate(name: string, values: Record<string, string>): Promise<string> {
  const directory = findUpwards(process.cwd(), TEMPLATES);
  const names = directory === null ? [] : await templatesIn(directory);
  if (directory === null || !names.includes(name)) throw notFound(name, names);
  const text = (await readPromptFile(join(directory, `${name}.md`))).trimEnd();
  const asked = new Set([...text.matchAll(placeholder)].map(([, key = '']) => key));
  const missing = [...asked].filter((key) => values[key] === undefined);
  const unknown = Object.keys(values).find((key) => !asked.has(key));
  if (missing.length > 0) {
    const how = missing.map((key) => (key === 'prompt' ? 'a prompt' : `--set ${key}=…`));
    throw incomplete(`The template ${name} needs ${how.join(' and ')}.`);
  }
  if (unknown !== undefined) {
    throw incomplete(`The template ${name} has no {{${unknown}}}, so the value would be lost.`);
  }
  return text.replace(placeholder, (_, key: string) => values[key] ?? '');
}

const placeholder = /\{\{\s*([A-Za-z][\w-]*)\s*\}\}/g;

async function templatesIn(directory: string): Promise<string[]> {
  const files = await readdir(directory);
  return files.filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -'.md'.length));
}

function notFound(name: string, known: readonly string[]): CliError {
  const near = nearestOf(name, known);
  const all = known.length === 0 ? `${TEMPLATES} has no files.` : `It has ${known.join(', ')}.`;
  const hint = near === null ? all : `Did you mean ${near}?`;
  const message = `The repository has no template "${name}". ${hint}`;
  return new CliError(exitCodes.usage, 'TEMPLATE_NOT_FOUND', message, {
    fix: `Create ${join(TEMPLATES, 'NAME.md')}, with {{prompt}} where the text goes.`,
  });
}

function incomplete(message: string): CliError {
  return new CliError(exitCodes.usage, 'TEMPLATE_INCOMPLETE', message);
}

function findUpwards(from: string, name: string): string | null {
  for (let folder = from, last = ''; folder !== last; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return join(folder, name);
    last = folder;
  }
  return null;
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, 'USAGE', message);
}
