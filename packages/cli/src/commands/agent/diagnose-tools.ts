import {
  createClaudeExecutor,
  createCodexExecutor,
  type Executor,
  ExecutorLoginError,
  ExecutorMissingError,
  ExecutorSandboxError,
} from '@signalbox/agent';

interface ToolFinding {
  name: string;
  state: 'ok' | 'missing' | 'warning';
  message: string;
}

/** The coding tools on this machine: version, and whether they are logged in. */
export function diagnoseTools(env: NodeJS.ProcessEnv): Promise<ToolFinding[]> {
  return Promise.all([createClaudeExecutor(), createCodexExecutor()].map((e) => look(e, env)));
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
