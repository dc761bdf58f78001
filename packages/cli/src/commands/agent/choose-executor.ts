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
 * Selects the coding tool from the options. Without any, the first known tool on the PATH.
 * @throws {CliError} USAGE, EXECUTOR_MISSING.
 */
export async function chooseExecutor(
  { executor, command, model }: ExecutorChoice,
  env: NodeJS.ProcessEnv,
): Promise<Executor> {
  const options = model === undefined ? {} : { model };
  const name = executor ?? (command === undefined ? undefined : 'command');
  if (name !== 'command' && name !== undefined && command !== undefined) {
    throw usage(`--executor ${name} and --command cannot be combined.`);
  }
  if (name === 'command') {
    if (command === undefined) throw usage('The command is missing. Add --command "…".');
    return createCommandExecutor({ command });
  }
  if (name === 'claude') return createClaudeExecutor(options);
  if (name === 'codex') return createCodexExecutor(options);
  for (const candidate of [createClaudeExecutor(options), createCodexExecutor(options)]) {
    if (await isAvailable(candidate, env)) return candidate;
  }
  throw new CliError(
    exitCodes.usage,
    'EXECUTOR_MISSING',
    'Neither claude nor codex is on the PATH.',
    { fix: 'Install one of them, or use any command: signalbox agent start --command "…"' },
  );
}

async function isAvailable(executor: Executor, env: NodeJS.ProcessEnv): Promise<boolean> {
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
