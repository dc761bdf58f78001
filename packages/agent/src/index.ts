export { startAgent } from './agent.ts';
export type { AgentEvent, LifecycleEvent } from './agent-events.ts';
export {
  type AgentOptions,
  type AgentRepository,
  agentDefaults,
  type RunningAgent,
} from './agent-options.ts';
export { type Clock, systemClock } from './clock.ts';
export { startCloudAiAgent } from './cloud-ai/cloud-ai-agent.ts';
export {
  type CloudAiAgentOptions,
  type CloudAiEvent,
  type CloudAiHubClient,
  CloudAiProviderRefusedError,
  type RunningCloudAiAgent,
} from './cloud-ai/cloud-ai-options.ts';
export {
  type CloudAiAnswer,
  type CloudAiProvider,
  type CloudAiProviderName,
  type CloudAiProviderOptions,
  type CloudAiQuestion,
  cloudAiProviderNames,
  createCloudAiProvider,
} from './cloud-ai/cloud-ai-provider.ts';
export {
  type AcpAdapter,
  AdapterInstallError,
  acpAdapters,
  adapterFolder,
  installAdapter,
} from './executors/acp/acp-adapters.ts';
export { acpAgentNames, canSpeakAcp } from './executors/acp/acp-agents.ts';
export { type AcpExecutorOptions, createAcpExecutor } from './executors/acp/acp-executor.ts';
export {
  type ClaudeExecutorOptions,
  claudePermissionModes,
  createClaudeExecutor,
} from './executors/claude.ts';
export {
  type CodexExecutorOptions,
  codexSandboxes,
  createCodexExecutor,
} from './executors/codex.ts';
export { createCommandExecutor } from './executors/command.ts';
export {
  type Executor,
  ExecutorLoginError,
  ExecutorMissingError,
  type ExecutorPlan,
  type ExecutorReport,
  type ExecutorRequest,
  ExecutorSandboxError,
  type ExecutorTool,
  type OutputReader,
  type ReadLine,
} from './executors/executor.ts';
export { findOnPath } from './executors/find-on-path.ts';
export type { JobServer } from './executors/job-server.ts';
export {
  createOwnToolExecutor,
  type OwnToolOptions,
  programOf,
  promptWays,
  SESSION_PLACEHOLDER,
} from './executors/own-tool.ts';
export {
  PermissionFileError,
  parsePermissionRule,
  readPermissionFile,
} from './executors/permissions/permission-file.ts';
export {
  createPermissionPolicy,
  type PermissionPolicy,
  type PermissionRule,
} from './executors/permissions/permission-policy.ts';
export { type TestedCommand, type TestedTool, testedTools } from './executors/tested-tools.ts';
export type { RepositoryMapping } from './git/git-mirror.ts';
export type { HubClient } from './hub-client.ts';
export { diagnoseWrap } from './isolation/isolation.ts';
export { IsolationError, type Proof, type Rung } from './isolation/rungs.ts';
export type { StopReason } from './job/attempt.ts';
export { type KeptFiles, listKeptFiles, removeKeptFiles } from './kept-files.ts';
export {
  CHECK_COMMAND_CHARS_MAX,
  CHECK_LIMIT_MS_DEFAULT,
  CHECK_LIMIT_MS_MAX,
  CHECKS_MAX,
  type CheckCommand,
  type LandingOptions,
  type LandingWay,
  landingWays,
} from './landing/landing-options.ts';
export { contentTypeOf } from './mcp/content-type.ts';
export { reachesJobs } from './process/environment.ts';
export { checkJobServer, ToolUserError } from './process/tool-user.ts';
export { CACHES_MAX } from './setup/setup-cache.ts';
export { SetupFileError } from './setup/setup-files.ts';
export {
  isSetupPath,
  SETUP_COMMANDS_MAX,
  SETUP_FILE,
  SETUP_PATHS_MAX,
  SETUP_PORTS_MAX,
  type SetupCommand,
  type SetupOptions,
  type SetupSteps,
} from './setup/setup-options.ts';
export { readKeptMax } from './state-directory.ts';
export { AgentAlreadyRunningError } from './state-lock.ts';
export { UploadError, uploadBytes } from './upload-bytes.ts';
