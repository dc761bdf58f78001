import { join } from 'node:path';

export { globalInstallLine } from './command-name.ts';
export { type CommandEntry, commandTable } from './command-table.ts';
export { type ExitCode, exitCodes, exitMeanings } from './exit-codes.ts';
/** `npm start` by a person: as `signalbox up`, for a clone or, with null, for none. */
export async function upFromCheckout(choice: {
  argv: readonly string[];
  path: string | null;
  consoleDir: string | undefined;
}): Promise<void> {
  const { upHere } = await import('./commands/hub/up-here.ts');
  await upHere(choice);
}

/** As in program.ts, loaded when called: a hub at its start loads this file without commander. */
export async function helpOf(words: readonly string[]): Promise<string> {
  return await (await import('./program.ts')).helpOf(words);
}

/** The entry point to run `signalbox …` as a separate process with the current Node. */
export const commandFile = join(import.meta.dirname, 'main.ts');
