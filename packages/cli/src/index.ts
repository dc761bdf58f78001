import { join } from 'node:path';

export { globalInstallLine } from './command-name.ts';
export { type CommandEntry, commandTable } from './command-table.ts';
export { type ExitCode, exitCodes, exitMeanings } from './exit-codes.ts';
export { helpOf } from './program.ts';
/** The entry point to run `signalbox …` as a separate process with the current Node. */
export const commandFile = join(import.meta.dirname, 'main.ts');
