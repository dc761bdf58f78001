import { type Executor, ExecutorMissingError } from './executor.ts';
import { findOnPath } from './find-on-path.ts';

export const SHELL = '/bin/sh';

/**
 * Runs any command in a shell in the job's worktree, with the prompt on standard input.
 *
 * Exit code 0 means `done`, any other code `failed`. To report more, for instance `blocked`, the
 * command writes `{outcome, message?, outcomeReason?, children?, usage?}` as JSON to the file named
 * by `SIGNALBOX_RESULT_FILE`.
 */
export function createCommandExecutor(options: { command: string }): Executor {
  return {
    name: 'command',
    // It learns of no model, so no job may ask for one.
    offeredModels: () => ({ current: '', models: [] }),
    async check(env) {
      if (options.command.trim() === '') {
        throw new ExecutorMissingError(
          'The command is empty. Give the command to run for each job.',
        );
      }
      if ((await findOnPath('sh', env)) === null) {
        throw new ExecutorMissingError('sh is not on the PATH; it is required to run the command.');
      }
      return { version: null };
    },
    plan: ({ promptText }) => ({
      file: SHELL,
      args: ['-c', options.command],
      stdin: promptText,
    }),
  };
}
