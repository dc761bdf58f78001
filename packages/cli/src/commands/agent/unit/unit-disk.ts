import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../../../cli-error.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { SERVICE_MARK } from './unit-file.ts';

/**
 * Reads the file of a service; null if it does not exist.
 * @throws {CliError} SERVICE_FOREIGN: somebody else wrote it.
 */
export async function readServiceFile(file: string): Promise<string | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (text.includes(SERVICE_MARK)) return text;
  const message = `${file} was not written by this command, and stays as it is.`;
  throw new CliError(exitCodes.usage, 'SERVICE_FOREIGN', message, {
    fix: 'Move it away, or choose another name with --service NAME.',
  });
}

/** Writes the whole file or none: a draft beside it takes its place. */
export async function writeServiceFile(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o644);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
