import { type Executor, ExecutorMissingError } from './executor.ts';
import { findOnPath } from './find-on-path.ts';

const SHELL = '/bin/sh';

/**
 * Any command, run by a shell in the job's worktree, with the prompt on standard input.
 *
 * What the command says about its job: exit 0 is `done`, anything else `failed`. One that knows
 * more writes `{outcome, message?, outcomeReason?, children?, usage?}` as JSON to the file that
 * `SIGNALBOX_RESULT_FILE` names, for instance to be `blocked`.
 */
export function createCommandExecutor(options: { command: string }): Executor {
  return {
    name: 'command',
    async check(env) {
      if (options.command.trim() === '') {
        throw new ExecutorMissingError('The command is empty; name one to run for each job.');
      }
      if ((await findOnPath('sh', env)) === null) {
        throw new ExecutorMissingError('There is no sh on the PATH to run the command with.');
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
