export { type ExitCode, exitCodes, exitMeanings } from './exit.ts';
