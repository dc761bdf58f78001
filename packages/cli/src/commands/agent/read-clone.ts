import { GitError, type ResolvedRemote, resolveRemote } from '@signalbox/agent/git-remote';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

/**
 * Reads what the hub may know about a clone on this machine: the hash of its remote, computed as
 * the agent does, and a label. (In this file because only the agent commands may import the agent.)
 * @throws {CliError} NOT_A_CLONE: the path is not in a git repository.
 */
export async function readClone(path: string, env: NodeJS.ProcessEnv): Promise<ResolvedRemote> {
  try {
    return await resolveRemote(path, { env });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new CliError(exitCodes.usage, 'NOT_A_CLONE', error.message, {
      fix: 'Give the path of a git clone.',
      cause: error,
    });
  }
}
