export { startAgent } from './agent.ts';
export { type AgentEvent, type AgentLogger, silentLogger } from './agent-events.ts';
export { type AgentOptions, agentDefaults, type RunningAgent } from './agent-options.ts';
export type { StopReason } from './attempt.ts';
export { type Clock, systemClock } from './clock.ts';
export { startCloudAiAgent } from './cloud-ai-agent.ts';
export {
  type CloudAiAgentOptions,
  type CloudAiEvent,
  type CloudAiHubClient,
  CloudAiProviderRefusedError,
  cloudAiDefaults,
  type RunningCloudAiAgent,
} from './cloud-ai-options.ts';
export {
  type CloudAiAnswer,
  type CloudAiProvider,
  type CloudAiProviderName,
  type CloudAiProviderOptions,
  type CloudAiQuestion,
  cloudAiProviderNames,
  createCloudAiProvider,
} from './cloud-ai-provider.ts';
export {
  type Executor,
  ExecutorMissingError,
  type ExecutorPlan,
  type ExecutorReport,
  type ExecutorRequest,
  type ExecutorTool,
  type OutputReader,
  type ReadLine,
} from './executor.ts';
export { type ClaudeExecutorOptions, createClaudeExecutor } from './executor-claude.ts';
export { type CodexExecutorOptions, createCodexExecutor } from './executor-codex.ts';
export { createCommandExecutor } from './executor-command.ts';
export { GitError } from './git.ts';
export type { RepositoryMapping } from './git-mirror.ts';
export { type ResolvedRemote, resolveRemote } from './git-remote.ts';
export type { HubClient } from './hub-client.ts';
export { type HookName, hookNames } from './job-hooks.ts';
export { readMachineFingerprint } from './state-directory.ts';
export { AgentAlreadyRunningError } from './state-lock.ts';
