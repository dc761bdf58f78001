import {
  createClaudeExecutor,
  createCodexExecutor,
  createCommandExecutor,
  type Executor,
  ExecutorMissingError,
} from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

export const executorNames = ['claude', 'codex', 'command'] as const;

export interface ExecutorChoice {
  executor?: (typeof executorNames)[number];
  command?: string;
  model?: string;
}

/**
 * The coding tool that the options name; without any, the first of those known that is on the PATH.
 * @throws {CliError} USAGE, EXECUTOR_MISSING.
 */
export async function chooseExecutor(
  { executor, command, model }: ExecutorChoice,
  env: NodeJS.ProcessEnv,
): Promise<Executor> {
  const options = model === undefined ? {} : { model };
  const name = executor ?? (command === undefined ? undefined : 'command');
  if (name !== 'command' && name !== undefined && command !== undefined) {
    throw usage(`--executor ${name} and --command exclude each other.`);
  }
  if (name === 'command') {
    if (command === undefined) throw usage('Say which command: --command "…".');
    return createCommandExecutor({ command });
  }
  if (name === 'claude') return createClaudeExecutor(options);
  if (name === 'codex') return createCodexExecutor(options);
  for (const candidate of [createClaudeExecutor(options), createCodexExecutor(options)]) {
    if (await isThere(candidate, env)) return candidate;
  }
  throw new CliError(
    exitCodes.usage,
    'EXECUTOR_MISSING',
    'Neither claude nor codex is on the PATH, so it is not clear what is to do the jobs.',
    { fix: 'Install one of them, or run any command: signalbox agent start --command "…"' },
  );
}

async function isThere(executor: Executor, env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await executor.check(env);
    return true;
  } catch (error) {
    if (error instanceof ExecutorMissingError) return false;
    throw error;
  }
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, 'USAGE', message);
}
