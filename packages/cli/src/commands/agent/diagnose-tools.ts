import {
  createClaudeExecutor,
  createCodexExecutor,
  diagnoseWrap,
  type Executor,
  ExecutorLoginError,
  ExecutorMissingError,
  ExecutorSandboxError,
  IsolationError,
} from '@signalbox/agent';
import { describeIsolation } from '@signalbox/contract';

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
  return [...(await Promise.all(tools)), await lookAtWrap(env)];
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
    return { name, state: 'missing', message: `not installed; needed for --tool ${name}` };
  }
}
