import { ExecutorMissingError } from '../executor.ts';
import { findOnPath } from '../find-on-path.ts';

/** A coding tool that speaks the Agent Client Protocol. */
export interface AcpAgent {
  /** Shown to people, and kept in the evidence. */
  name: string;
  file: string;
  args: readonly string[];
  /** Added to the tool's environment. */
  env: Readonly<Record<string, string>>;
  /** The mode in which the tool asks people, if its own default asks a model instead. */
  mode?: string;
  /** The mode for jobs that may not write, if the tool has one. */
  readOnlyMode?: string;
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

/** The tools known by name. Adapters change weekly, so the versions that were tested are named. */
const knownAgents: Readonly<Record<string, AcpAgentRow>> = {
  claude: {
    name: 'claude',
    file: 'claude-agent-acp',
    args: [],
    // Each would be a model call of its own that no person reads.
    env: { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false' },
    install: 'npm install --global @agentclientprotocol/claude-agent-acp@0.100.0',
    toolVariable: { name: 'CLAUDE_CODE_EXECUTABLE', tool: 'claude' },
    showsServerEnv: true,
    costLimit: 'session',
    noise: /^(\[session\/\w+\] |claude auth status (failed|returned) )/,
    sessionMeta: {
      claudeCode: {
        options: {
          // Without this the tool must be able to skip all permissions, which it refuses as root.
          allowDangerouslySkipPermissions: false,
          // Those of the repository would run with the variables of the job, before the model.
          settings: { disableAllHooks: true },
        },
      },
    },
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
    tellsFailures: true,
    takesCodexConfig: true,
    install: 'npm install --global @agentclientprotocol/codex-acp@2.6.0',
    toolVariable: { name: 'CODEX_PATH', tool: 'codex' },
    loginHint: 'Run codex login on this machine.',
  },
  opencode: {
    name: 'opencode',
    file: 'opencode',
    args: ['acp'],
    countsLastCallOnly: true,
    costLimit: 'reported',
    // By default it asks about nothing but files outside, so no rule of the agent would be applied.
    env: {
      OPENCODE_PERMISSION: JSON.stringify({
        ...{ edit: 'ask', bash: 'ask', webfetch: 'ask', external_directory: 'ask' },
      }),
    },
    install: 'npm install --global opencode-ai@1.18.33',
    loginHint: 'Run opencode auth login on this machine.',
  },
  gemini: {
    name: 'gemini',
    file: 'gemini',
    args: ['--acp'],
    // Its owner trusts the repository then: hooks and settings in there take effect as well.
    serversNeed: 'GEMINI_CLI_TRUST_WORKSPACE',
    noise: /^(\[STARTUP\] |Ripgrep is not available|Could not find promptId in context )/,
    install: 'npm install --global @google/gemini-cli@0.61.0',
    loginHint: 'Run gemini on this machine and log in.',
  },
};

export const acpAgentNames: readonly string[] = Object.keys(knownAgents);

/** Whether the command of a known tool is on the PATH. */
export async function isAcpAgentInstalled(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const row = knownAgents[name];
  return row !== undefined && (await findOnPath(row.file, env)) !== null;
}

/**
 * Finds a tool by its name in the table, or takes the text as a command line for a shell.
 *
 * @throws {ExecutorMissingError} with the command that installs the tool.
 */
export async function findAcpAgent(text: string, env: NodeJS.ProcessEnv): Promise<AcpAgent> {
  const row = knownAgents[text];
  if (row === undefined) return customAgent(text);
  const file = await findOnPath(row.file, env);
  if (file === null) {
    throw new ExecutorMissingError(`${row.file} is not on the PATH. Install it: ${row.install}`);
  }
  const { install: _install, toolVariable, ...agent } = row;
  return { ...agent, file, env: { ...row.env, ...(await nameTool(toolVariable, env)) } };
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
