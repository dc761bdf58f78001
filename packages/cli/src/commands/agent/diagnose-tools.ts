import {
  createClaudeExecutor,
  createCodexExecutor,
  createOwnToolExecutor,
  diagnoseWrap,
  type Executor,
  ExecutorLoginError,
  ExecutorMissingError,
  ExecutorSandboxError,
  IsolationError,
} from '@signalbox/agent';
import { describeIsolation } from '@signalbox/contract';
import { CliError } from '../../cli-error.ts';
import { ownToolName } from './choose-executor.ts';
import { ownToolOf, planAgent } from './config/agent-plan.ts';

interface ToolFinding {
  name: string;
  /** `missing`: not an error, but something is not available. */
  state: 'ok' | 'missing' | 'warning';
  message: string;
}

/**
 * The coding tools on this machine: version, and whether they are logged in; and whether agents can
 * wrap them, which is tried.
 */
export async function diagnoseTools(env: NodeJS.ProcessEnv): Promise<ToolFinding[]> {
  const tools = [createClaudeExecutor(), createCodexExecutor()].map((each) => look(each, env));
  const own = await lookAtOwnTools(env);
  return [...(await Promise.all(tools)), ...own, await lookAtWrap(env)];
}

/** The tools that the agent's file describes. */
async function lookAtOwnTools(env: NodeJS.ProcessEnv): Promise<ToolFinding[]> {
  try {
    const plan = await planAgent({}, env);
    const plans = [...(plan.repositories ?? []).map((each) => each.plan), plan.general];
    const own = new Map<string, Executor>();
    for (const { tool } of plans) {
      const options = ownToolOf(tool);
      if (options === undefined) continue;
      const name = ownToolName(options.command, tool.name?.value);
      own.set(name, createOwnToolExecutor({ ...options, name }));
    }
    return await Promise.all(
      [...own].map(async ([name, executor]): Promise<ToolFinding> => {
        const { state, message } = await look(executor, env);
        const how = [message, ...(executor.describe?.() ?? [])].join(' · ');
        return {
          name,
          ...(state === 'ok' ? { state, message: how } : { state: 'warning', message }),
        };
      }),
    );
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [{ name: 'agent.yaml', state: 'warning', message: error.message }];
  }
}

async function lookAtWrap(env: NodeJS.ProcessEnv): Promise<ToolFinding> {
  const name = 'Isolation';
  try {
    return { name, state: 'ok', message: describeIsolation(await diagnoseWrap(env)) };
  } catch (error) {
    if (!(error instanceof IsolationError)) throw error;
    return { name, state: 'missing', message: error.message };
  }
}

async function look(executor: Executor, env: NodeJS.ProcessEnv): Promise<ToolFinding> {
  const { name } = executor;
  try {
    const { version } = await executor.check(env);
    return { name, state: 'ok', message: version ?? 'installed' };
  } catch (error) {
    if (error instanceof ExecutorLoginError || error instanceof ExecutorSandboxError) {
      return { name, state: 'warning', message: error.message };
    }
    if (!(error instanceof ExecutorMissingError)) throw error;
    const message = name === 'command' ? error.message : `not installed; needed for --tool ${name}`;
    return { name, state: 'missing', message };
  }
}
