import {
  type ClaudeExecutorOptions,
  type CodexExecutorOptions,
  createClaudeExecutor,
  createCodexExecutor,
  createCommandExecutor,
  type Executor,
  ExecutorLoginError,
  ExecutorMissingError,
  ExecutorSandboxError,
} from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { launcherFile } from '../../command-name.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type AcpChoice, chooseAcp } from './choose-acp.ts';

/** The command by which coding tools start the server of their job's own tools. */
export const jobServer = { file: process.execPath, args: [launcherFile, 'mcp'] };

export const executorNames = ['claude', 'codex', 'command'] as const;

export interface ToolChoice extends AcpChoice {
  executor?: (typeof executorNames)[number] | undefined;
  command?: string | undefined;
  allow?: string[] | undefined;
  permissionMode?: ClaudeExecutorOptions['permissionMode'] | undefined;
  sandbox?: CodexExecutorOptions['sandbox'] | undefined;
  trustRepository?: boolean | undefined;
}

/**
 * Selects the coding tool. Without any, the first known tool on the PATH.
 * @throws {CliError} USAGE, EXECUTOR_MISSING.
 */
export async function chooseExecutor(
  choice: ToolChoice,
  env: NodeJS.ProcessEnv,
): Promise<Executor> {
  const { executor, command } = choice;
  const name = executor ?? (command === undefined ? undefined : 'command');
  if (name !== 'command' && name !== undefined && command !== undefined) {
    throw usage(`--executor ${name} and --command cannot be combined.`);
  }
  checkPermissions(choice, name);
  const acp = await chooseAcp(choice, jobServer);
  if (acp !== null && name !== undefined) {
    throw usage('--acp cannot be combined with --executor or --command.');
  }
  if (acp !== null) return acp;
  if (name === 'command') {
    if (command === undefined) throw usage('The command is missing. Add --command "…".');
    return createCommandExecutor({ command });
  }
  const claude = createClaudeExecutor(claudeOptions(choice));
  const codex = createCodexExecutor(codexOptions(choice));
  if (name === 'claude') return claude;
  if (name === 'codex') return codex;
  for (const candidate of [claude, codex]) {
    if (await isAvailable(candidate, env)) return candidate;
  }
  throw new CliError(
    exitCodes.usage,
    'EXECUTOR_MISSING',
    'Neither claude nor codex is on the PATH.',
    { fix: 'Install one of them, or use any command: signalbox agent start --command "…"' },
  );
}

/** The options of `agent start` that only one tool has. */
const optionsOf = {
  claude: {
    allow: '--allow',
    permissionMode: '--permission-mode',
    trustRepository: '--trust-repository',
  },
  codex: { sandbox: '--sandbox' },
} as const;

/** Refuses a permission that the tool does not know: it would be ignored without a word. */
function checkPermissions(choice: ToolChoice, name: ToolChoice['executor']): void {
  const given = new Set(
    Object.keys(choice).filter((key) => choice[key as keyof ToolChoice] !== undefined),
  );
  for (const [tool, flags] of Object.entries(optionsOf)) {
    const wrong = Object.entries(flags).find(([key]) => given.has(key) && name !== tool);
    if (wrong !== undefined) throw usage(`${wrong[1]} needs --executor ${tool}.`);
  }
}

function claudeOptions(choice: ToolChoice): ClaudeExecutorOptions {
  const { model, allow, permissionMode, trustRepository } = choice;
  return {
    jobServer,
    ...(model === undefined ? {} : { model }),
    ...(allow === undefined ? {} : { allowedTools: allow }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(trustRepository === undefined ? {} : { trustRepository }),
  };
}

function codexOptions({ model, sandbox }: ToolChoice): CodexExecutorOptions {
  return {
    jobServer,
    ...(model === undefined ? {} : { model }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}

async function isAvailable(executor: Executor, env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await executor.check(env);
    return true;
  } catch (error) {
    if (error instanceof ExecutorMissingError) return false;
    // The start says what is wrong with it.
    if (error instanceof ExecutorLoginError || error instanceof ExecutorSandboxError) return true;
    throw error;
  }
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, 'USAGE', message);
}
