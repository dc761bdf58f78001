import { ExecutorMissingError } from '../executor.ts';
import { findOnPath } from '../find-on-path.ts';
import { packageOf, type TestedCommand } from '../tested-tools.ts';
import { findAdapter } from './acp-adapters.ts';
import {
  claudeSessionMeta,
  codexCwd,
  codexWarnings,
  geminiArgs,
  opencodeEnv,
  opencodeModes,
} from './acp-settings.ts';

/** A coding tool that speaks the Agent Client Protocol. */
export interface AcpAgent {
  /** Shown to people, and kept in the evidence. */
  name: string;
  file: string;
  args: readonly string[];
  /** Added to the tool's environment. */
  env: Readonly<Record<string, string>>;
  /** Variables that depend on the worktree and on the environment of the job. */
  envOf?: (cwd: string, env: NodeJS.ProcessEnv) => Record<string, string>;
  /** Sentences on what may answer the tool before this agent is asked, and has no setting. */
  warningsOf?: (env: NodeJS.ProcessEnv) => string[];
  /** The spelling of the worktree's path for its sessions. */
  cwdOf?: (cwd: string) => string;
  /** The mode in which the tool asks people. Its own default may ask a model, or not ask. */
  mode?: string;
  /** The mode for jobs that may not write. */
  readOnlyMode?: string;
  /** The commands of the tool and of its adapter whose versions are compared with the tested. */
  commands: readonly TestedCommand[];
  /** The tool tells failures of a turn by an extension of JetBrains, and by words otherwise. */
  tellsFailures?: true;
  /**
   * It writes the environment of MCP servers into arguments, which all users can read. They inherit
   * that of the tool.
   */
  showsServerEnv?: true;
  /** It takes MCP servers with time limits and permissions by `CODEX_CONFIG` only. */
  takesCodexConfig?: true;
  /** Its `usage` of a turn is that of the last call of the model. */
  countsLastCallOnly?: true;
  /**
   * It reports its cost in US dollars. `session`: its adapter takes a limit, because it tells the
   * cost at the end of a turn only. `reported`: it tells the cost while it works.
   */
  costLimit?: 'session' | 'reported';
  /** It starts MCP servers only where this variable of its environment is `true`. */
  serversNeed?: string;
  /** It writes a session down after it has asked about a call, and lists those that are written. */
  storesLate?: true;
  /** Lines on its standard error that are about the tool itself, and not about the job. */
  noise?: RegExp;
  /** Added to requests that open a session. */
  sessionMeta?: Readonly<Record<string, unknown>>;
  /** How a person logs in, for the message that a login is needed. */
  loginHint: string;
}

interface AcpAgentRow extends Omit<AcpAgent, 'env'> {
  env?: Readonly<Record<string, string>>;
  /** How to install the command, when it is not on the PATH. */
  install: string;
  /** The variable by which an adapter is told to use the tool that the person has installed. */
  toolVariable?: { name: string; tool: string };
}

const installOf = (command: TestedCommand) => `npm install --global ${packageOf(command)}`;

/** The tools known by name. Adapters change weekly, so the versions that were tested are named. */
const knownAgents: Readonly<Record<string, AcpAgentRow>> = {
  claude: {
    name: 'claude',
    file: 'claude-agent-acp',
    args: [],
    mode: 'default',
    readOnlyMode: 'default',
    commands: ['claude-agent-acp', 'claude'],
    // Each would be a model call of its own that no person reads.
    env: { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false' },
    install: installOf('claude-agent-acp'),
    toolVariable: { name: 'CLAUDE_CODE_EXECUTABLE', tool: 'claude' },
    showsServerEnv: true,
    costLimit: 'session',
    storesLate: true,
    noise: /^(\[[\w/-]+\] |Session [\da-f]{8}-|claude auth status |Unexpected case: )/,
    sessionMeta: claudeSessionMeta,
    loginHint: 'Run claude on this machine and log in.',
  },
  codex: {
    name: 'codex',
    file: 'codex-acp',
    args: [],
    // After each turn it would ask the model what a person may want to say next.
    env: { CODEX_ACP_PROMPT_SUGGESTIONS: 'false' },
    mode: 'workspace-write',
    readOnlyMode: 'read-only',
    commands: ['codex-acp', 'codex'],
    warningsOf: codexWarnings,
    cwdOf: codexCwd,
    tellsFailures: true,
    takesCodexConfig: true,
    install: installOf('codex-acp'),
    toolVariable: { name: 'CODEX_PATH', tool: 'codex' },
    loginHint: 'Run codex login on this machine.',
  },
  opencode: {
    name: 'opencode',
    file: 'opencode',
    args: ['acp'],
    countsLastCallOnly: true,
    costLimit: 'reported',
    ...opencodeModes,
    envOf: opencodeEnv,
    commands: ['opencode'],
    install: installOf('opencode'),
    loginHint: 'Run opencode auth login on this machine.',
  },
  gemini: {
    name: 'gemini',
    file: 'gemini',
    args: geminiArgs,
    mode: 'default',
    readOnlyMode: 'default',
    commands: ['gemini'],
    // Its owner trusts the repository then: hooks and settings in there take effect as well.
    serversNeed: 'GEMINI_CLI_TRUST_WORKSPACE',
    noise: /^(\[STARTUP\] |Ripgrep is not available|Could not find promptId in context )/,
    install: installOf('gemini'),
    loginHint: 'Run gemini on this machine and log in.',
  },
};

export const acpAgentNames: readonly string[] = Object.keys(knownAgents);

/** Whether a known tool can be driven: its command is on the PATH, or its adapter is installed. */
export async function canSpeakAcp(
  name: string,
  env: NodeJS.ProcessEnv,
  adaptersDir?: string,
): Promise<boolean> {
  const row = knownAgents[name];
  if (row === undefined) return false;
  return findAdapter(name, adaptersDir) !== null || (await findOnPath(row.file, env)) !== null;
}

/**
 * Finds a tool by its name in the table, or takes the text as a command line for a shell. An
 * adapter on the PATH is the person's own choice, so it goes before one of `adaptersDir`.
 *
 * @throws {ExecutorMissingError} with the command that installs the tool.
 */
export async function findAcpAgent(
  text: string,
  env: NodeJS.ProcessEnv,
  adaptersDir?: string,
): Promise<AcpAgent> {
  const row = knownAgents[text];
  if (row === undefined) return customAgent(text);
  const { install, toolVariable, ...agent } = row;
  const variables = { ...row.env, ...(await nameTool(toolVariable, env)) };
  const file = await findOnPath(row.file, env);
  if (file !== null) return { ...agent, file, env: variables };
  const adapter = findAdapter(text, adaptersDir);
  if (adapter === null) {
    throw new ExecutorMissingError(`${row.file} is not on the PATH. Install it: ${install}`);
  }
  return { ...agent, file: process.execPath, args: [adapter, ...row.args], env: variables };
}

function customAgent(command: string): AcpAgent {
  if (command.trim() === '') {
    throw new ExecutorMissingError(
      `The command is empty. Give one of ${acpAgentNames.join(', ')}, or a command line.`,
    );
  }
  return {
    name: 'acp',
    file: '/bin/sh',
    // The shell replaces itself, so that signals reach the tool.
    args: ['-c', `exec ${command}`],
    env: {},
    commands: [],
    loginHint: 'Log in with the tool on this machine.',
  };
}

async function nameTool(
  variable: AcpAgentRow['toolVariable'],
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  if (variable === undefined || env[variable.name] !== undefined) return {};
  const tool = await findOnPath(variable.tool, env);
  return tool === null ? {} : { [variable.name]: tool };
}
