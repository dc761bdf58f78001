import { NotInJobError, openJobContext } from '@signalbox/agent/job-tools';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

/** @throws {CliError} NOT_IN_JOB */
export function jobContextOf(env: NodeJS.ProcessEnv) {
  try {
    return openJobContext(env);
  } catch (error) {
    if (!(error instanceof NotInJobError)) throw error;
    throw new CliError(exitCodes.usage, 'NOT_IN_JOB', error.message, { cause: error });
  }
}
