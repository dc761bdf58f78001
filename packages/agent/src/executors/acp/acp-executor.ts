import type { McpServer } from '@agentclientprotocol/sdk/unstable';
import type { ShareChanges } from '../../landing/landing-options.ts';
import { askedSetting, type OfferedModels } from '../asked-tool.ts';
import { checkClaudeLogin } from '../claude-login.ts';
import { checkCodexSandbox, inCodexSandbox } from '../codex-sandbox.ts';
import { codexConfigWith } from '../codex-server.ts';
import type { ConversationHost } from '../conversation.ts';
import type { Executor, ExecutorReport } from '../executor.ts';
import { JOB_SERVER_NAME, type JobServer, serverVariables } from '../job-server.ts';
import { createPermissionPolicy, type PermissionPolicy } from '../permissions/permission-policy.ts';
import { readVersions } from '../tested-tools.ts';
import type { ToolFailure } from '../tool-failure.ts';
import { composeToolPrompt } from '../tool-prompt.ts';
import { type AcpAgent, acpAgentNames, findAcpAgent } from './acp-agents.ts';
import { AcpReader } from './acp-messages.ts';
import type { SessionSettings } from './acp-session.ts';
import { runAcpTool } from './acp-tool.ts';
import type { AcpTurn } from './acp-turn.ts';
import type { ShareApprovals } from './approval.ts';

export interface AcpExecutorOptions extends SessionSettings {
  /** A name of the table (claude, codex, opencode, gemini), or a command line for a shell. */
  agent: string;
  /** Where adapters are installed that are not on the PATH (`installAdapter`). */
  adaptersDir?: string;
  /** Default: without rules beside its own. */
  permissions?: PermissionPolicy;
  /** How much of an action leaves the machine when a person is asked. Default `command`. */
  shareApprovals?: ShareApprovals;
  /** How much of changed files leaves the machine with the log. Default `stat`. */
  shareChanges?: ShareChanges;
  /** The server of the job's own tools. Absent: the tool has none. */
  jobServer?: JobServer;
  /** Further MCP servers that every session of a job gets. */
  mcpServers?: (host: ConversationHost) => readonly McpServer[];
}

/** A tool that crashes is started again, with its session, this often in an attempt. */
const STARTS_MAX = 3;
/** The mode of Codex's adapter in which commands run without a sandbox. */
const CODEX_WITHOUT_SANDBOX = 'agent-full-access';
/** Actions of a kind that the evidence names. */
const LISTED_MAX = 50;

/**
 * Runs a tool that speaks the Agent Client Protocol (https://agentclientprotocol.com). It can ask
 * people: permissions and questions become decision requests.
 */
export function createAcpExecutor(options: AcpExecutorOptions): Executor {
  const permissions = options.permissions ?? createPermissionPolicy();
  let found: AcpAgent | null = null;
  let offered: OfferedModels | null = null;
  return {
    name: 'acp',
    tool: acpAgentNames.includes(options.agent) ? options.agent : 'acp',
    hasSessions: true,
    modelOf: (requirements) => askedSetting('model', requirements, options.model) ?? '',
    offeredModels: () => offered,
    reportsCost: () => found?.costLimit !== undefined,
    async check(env, user = null) {
      found = await findAcpAgent(options.agent, env, options.adaptersDir);
      if (found.name === 'claude' && user === null) await checkClaudeLogin(env);
      const mode = options.mode ?? found.mode;
      if (found.name === 'codex' && mode !== CODEX_WITHOUT_SANDBOX) {
        const sandbox = mode === 'read-only' ? mode : 'workspace-write';
        // The adapter may bring its own Codex.
        const place = { env: { ...env, ...found.env }, user };
        await checkCodexSandbox([found.file, ...found.args, 'cli'], sandbox, place);
      }
      const own = found.warningsOf?.(env) ?? [];
      const { versions, warnings } = await readVersions(found.commands, env);
      // Of the tool, not of its adapter.
      const version = versions[found.name as keyof typeof versions] ?? null;
      return { version, warnings: [...warnings, ...own] };
    },
    ownSandbox(isReadOnly) {
      if (found?.name !== 'codex') return null;
      const mode = isReadOnly ? found.readOnlyMode : (options.mode ?? found.mode);
      if (mode === CODEX_WITHOUT_SANDBOX) return null;
      const sandbox = mode === 'read-only' ? mode : 'workspace-write';
      const wrap = inCodexSandbox([found.file, ...found.args, 'cli'], sandbox);
      // The adapter may bring its own Codex.
      return { wrap, env: found.env };
    },
    plan() {
      if (found === null) throw new Error('plan is called after check');
      const agent = found;
      return {
        file: agent.file,
        args: agent.args,
        stdin: '',
        converse: (host) =>
          converse(host, agent, {
            ...options,
            permissions,
            onModels: (models) => {
              offered = models;
            },
          }),
      };
    },
  };
}

async function converse(
  host: ConversationHost,
  agent: AcpAgent,
  options: AcpExecutorOptions & Pick<AcpTurn, 'permissions' | 'onModels'>,
): Promise<ExecutorReport> {
  const share = options.shareChanges ?? 'stat';
  const { countsLastCallOnly = false, serversNeed } = agent;
  const isAble = serversNeed === undefined || host.env[serversNeed] === 'true';
  const jobServer = isAble ? options.jobServer : undefined;
  const reader = new AcpReader({
    cwd: host.cwd,
    share,
    countsLastCallOnly,
    sessionCostUsd: host.session.costUsd,
    redact: (text) => host.redact(text),
  });
  const settings = settingsOf(host, agent, options);
  const means = { resultFile: null, hasServer: jobServer !== undefined };
  const turn: AcpTurn = {
    host,
    agent: equip(host, agent, jobServer),
    reader,
    settings,
    permissions: options.permissions,
    shareApprovals: options.shareApprovals ?? 'command',
    mcpServers: [...serverOf(host, agent, jobServer), ...(options.mcpServers?.(host) ?? [])],
    // The tool may write in its worktree only, and that is committed.
    promptText: composeToolPrompt(host, means),
    nextPromptText: composeToolPrompt({ ...host, promptText: host.nextPromptText }, means),
    about: null,
    onModels: options.onModels,
    denied: [],
    unasked: [],
    warnings: agent.warningsOf?.(host.env) ?? [],
  };
  for (const warning of turn.warnings) await host.note(`signalbox: ${warning}`);
  for (let starts = 1; ; starts++) {
    const end = await runAcpTool(turn);
    if (end.kind === 'crashed' && starts < STARTS_MAX && host.session.sessionId !== null) {
      await host.note(`signalbox: ${end.summary} Its session is resumed.`);
      continue;
    }
    return reportOf(turn, end);
  }
}

/** Gives the server of the job's tools to a tool that takes it as the protocol says. */
function serverOf(
  { env }: ConversationHost,
  agent: AcpAgent,
  server: JobServer | undefined,
): McpServer[] {
  if (server === undefined || agent.takesCodexConfig) return [];
  const given = agent.showsServerEnv ? [] : serverVariables(env);
  return [{ name: JOB_SERVER_NAME, command: server.file, args: [...server.args], env: given }];
}

/** The tool with the variables that depend on the job. */
function equip(host: ConversationHost, agent: AcpAgent, server: JobServer | undefined): AcpAgent {
  const env = { ...agent.env, ...agent.envOf?.(host.cwd, host.env) };
  if (server === undefined || !agent.takesCodexConfig) return { ...agent, env };
  return { ...agent, env: { ...env, CODEX_CONFIG: codexConfigWith(server, host) } };
}

/**
 * The job's requirements go before the agent's configuration, except for the mode: it decides what
 * the tool may do without asking, which is not for those who give jobs.
 */
function settingsOf(
  { job, isReadOnly, isSandboxOff }: ConversationHost,
  agent: AcpAgent,
  options: AcpExecutorOptions,
): SessionSettings {
  const pick = (name: 'model' | 'effort') => askedSetting(name, job.requirements, options[name]);
  const { mode = agent.mode } = options;
  const readOnlyMode = agent.readOnlyMode ?? mode;
  const own = isReadOnly ? readOnlyMode : mode;
  // Only Codex has a sandbox that may be turned off.
  const used = isSandboxOff ? CODEX_WITHOUT_SANDBOX : own;
  return { model: pick('model'), mode: used, effort: pick('effort') };
}

function reportOf(turn: AcpTurn, end: Awaited<ReturnType<typeof runAcpTool>>): ExecutorReport {
  const { reader, host } = turn;
  const { sessionId } = host.session;
  const usage = reader.usage();
  const message = reader.lastMessage();
  return {
    ...(sessionId === null ? {} : { sessionId }),
    ...(usage === undefined ? {} : { usage }),
    ...(message === '' ? {} : { message }),
    ...(turn.about === null ? {} : { tool: turn.about }),
    ...(end.kind === 'parked' ? { blocked: { summary: end.summary } } : {}),
    ...(end.kind === 'crashed' || end.kind === 'failed' ? { failure: failureOf(end) } : {}),
    ...(turn.settings.mode === undefined ? {} : { mode: turn.settings.mode }),
    ...(turn.denied.length === 0 ? {} : { denied: turn.denied.slice(0, LISTED_MAX) }),
    ...(turn.unasked.length === 0 ? {} : { unasked: turn.unasked.slice(0, LISTED_MAX) }),
    ...(turn.warnings.length === 0 ? {} : { warnings: [...turn.warnings] }),
  };
}

function failureOf(end: ToolFailure & { kind: string }): ToolFailure {
  const { kind: _, ...failure } = end;
  return failure;
}
