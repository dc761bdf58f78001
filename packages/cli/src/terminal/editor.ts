import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from './io.ts';

/** A text that a person has edited, in a file until it is no longer needed. */
export interface EditedText {
  text: string;
  file: string;
  remove(): Promise<void>;
}

/**
 * Opens a text in the person's editor, as git does: VISUAL, EDITOR, otherwise vi.
 * @throws {CliError} EDITOR_MISSING, EDITOR_FAILED.
 */
export async function editText(io: Io, text: string, fileName: string): Promise<EditedText> {
  const editor = io.env.VISUAL || io.env.EDITOR || (io.isInteractive ? editorDefault : undefined);
  if (editor === undefined) {
    const message = 'There is no terminal to edit on, and EDITOR is not set.';
    throw new CliError(exitCodes.usage, 'EDITOR_MISSING', message, {
      fix: 'Set EDITOR, or give the text as an option.',
    });
  }
  // Only this user can read the directory that mkdtemp creates.
  const file = join(await mkdtemp(join(tmpdir(), 'signalbox-edit-')), fileName);
  await writeFile(file, text, { mode: 0o600 });
  await runEditor(editor, file);
  return {
    text: await readFile(file, 'utf8'),
    file,
    remove: async () => await rm(dirname(file), { recursive: true, force: true }),
  };
}

const editorDefault = process.platform === 'win32' ? 'notepad' : 'vi';

/** Runs it in a shell, because EDITOR may have arguments, as in `code --wait`. */
async function runEditor(editor: string, file: string): Promise<void> {
  const isWindows = process.platform === 'win32';
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
    : spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit' });
  const [exitCode] = await once(child, 'close');
  if (exitCode === 0) return;
  throw new CliError(exitCodes.failed, 'EDITOR_FAILED', `The editor "${editor}" failed.`, {
    fix: `Your text is kept in ${file}.`,
  });
}
