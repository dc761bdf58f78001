import { GitError, type ResolvedRemote, resolveRemote } from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

/**
 * What the hub may know of a clone on this machine: the hash of its remote, made as the agent makes
 * it, and a label. (In this file because only the commands of the agent may import it.)
 * @throws {CliError} NOT_A_CLONE: the path is in no git repository.
 */
export async function readClone(path: string, env: NodeJS.ProcessEnv): Promise<ResolvedRemote> {
  try {
    return await resolveRemote(path, { env });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new CliError(exitCodes.usage, 'NOT_A_CLONE', error.message, {
      fix: 'Name the path of a git clone.',
      cause: error,
    });
  }
}
