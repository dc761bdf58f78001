import { join } from 'node:path';

export { type CommandEntry, commandTable } from './command-table.ts';
export { type ExitCode, exitCodes, exitMeanings } from './exit-codes.ts';
/** The file to run with this Node for `signalbox …` in a process of its own. */
export const commandFile = join(import.meta.dirname, 'main.ts');
