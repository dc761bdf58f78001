import { join } from 'node:path';

export { globalInstallLine } from './command-name.ts';
export { type CommandEntry, commandTable } from './command-table.ts';
export { type ExitCode, exitCodes, exitMeanings } from './exit-codes.ts';
/** As in program.ts, loaded when called: a hub at its start loads this file without commander. */
export async function helpOf(words: readonly string[]): Promise<string> {
  return await (await import('./program.ts')).helpOf(words);
}

/** The entry point to run `signalbox …` as a separate process with the current Node. */
export const commandFile = join(import.meta.dirname, 'main.ts');
