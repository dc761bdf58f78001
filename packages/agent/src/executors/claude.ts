import { askedSetting } from './asked-tool.ts';
import { checkClaudeLogin } from './claude-login.ts';
import { ClaudeReader } from './claude-reader.ts';
import { readKeptSettings } from './claude-settings.ts';
import { type Executor, ExecutorMissingError, type ExecutorRequest } from './executor.ts';
import { findOnPath, readVersion } from './find-on-path.ts';
import { JOB_SERVER_NAME, type JobServer, SERVER_START_SECONDS } from './job-server.ts';
import { untestedText } from './tested-tools.ts';
import { composeToolPrompt } from './tool-prompt.ts';

export const claudePermissionModes = [
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'bypassPermissions',
] as const;

export interface ClaudeExecutorOptions {
  model?: string;
  /**
   * Claude Code's `--permission-mode`. No person can answer a prompt, so Claude Code refuses what
   * the mode does not allow. Default `acceptEdits`: files may be changed, commands need
   * `allowedTools`. A read-only job always runs in `default`.
   */
  permissionMode?: (typeof claudePermissionModes)[number];
  /** Permission rules such as `Bash(npm test:*)`. */
  allowedTools?: readonly string[];
  /**
   * Lets hooks of the repository's own `.claude/settings.json` and servers of its `.mcp.json` run.
   * They run before the model has said a word, with the job's token and all variables of the agent.
   */
  trustRepository?: boolean;
  /** The server of the job's own tools. Absent: the tool has none. */
  jobServer?: JobServer;
  /** Additional arguments, passed unchanged. */
  args?: readonly string[];
}

/** Tools that a read-only job has beside `readingCommands`. */
const readingTools = ['Read', 'Grep', 'Glob'];
const readingCommands = ['diff', 'log', 'show', 'status', 'branch --list', 'blame', 'ls-files'].map(
  (command) => `Bash(git ${command}:*)`,
);

/** Permission rule for all tools of the job's own server. */
const SERVER_RULE = `mcp__${JOB_SERVER_NAME}`;

/** Claude Code gives its own environment to the server, so no value is in an argument. */
function configOf({ file, args }: JobServer): string {
  return JSON.stringify({ mcpServers: { [JOB_SERVER_NAME]: { command: file, args } } });
}

/** Runs Claude Code in headless mode. */
export function createClaudeExecutor(options: ClaudeExecutorOptions = {}): Executor {
  const { model, permissionMode = 'acceptEdits', allowedTools = [], trustRepository } = options;
  const { jobServer } = options;
  const serverRules = jobServer === undefined ? [] : [SERVER_RULE];

  /** The permissions of a job. Refused calls are reported with the result. */
  function permissions({ isReadOnly, toolFiles }: ExecutorRequest): string[] {
    if (!isReadOnly) {
      const rules = [...allowedTools, ...serverRules];
      const allow = rules.length > 0 ? ['--allowedTools', rules.join(',')] : [];
      return ['--permission-mode', permissionMode, ...allow];
    }
    // A rule with two slashes is an absolute path. Edit rules hold for all tools that write.
    const rules = [...readingTools, ...readingCommands, `Edit(/${toolFiles}/**)`, ...serverRules];
    return ['--permission-mode', 'default', '--allowedTools', rules.join(',')];
  }

  return {
    name: 'claude',
    tool: 'claude',
    modelOf: (requirements) => askedSetting('model', requirements, model) ?? '',
    reportsCost: () => true,
    async check(env, user = null) {
      const file = await findOnPath('claude', env);
      if (file === null) {
        throw new ExecutorMissingError(
          'claude is not on the PATH; install Claude Code and log it in, or choose another tool.',
        );
      }
      if (user === null) await checkClaudeLogin(env);
      const version = await readVersion(file, env);
      const warning = untestedText('claude', version);
      return { version, warnings: warning === null ? [] : [warning] };
    },
    plan(request) {
      const hasServer = jobServer !== undefined;
      const kept = readKeptSettings(request.env);
      const settings = { ...kept.settings, ...(trustRepository ? {} : { disableAllHooks: true }) };
      const args = ['-p', '--output-format', 'stream-json', '--verbose'];
      args.push(...permissions(request), '--add-dir', request.toolFiles);
      if (request.attachments !== undefined) args.push('--add-dir', request.attachments);
      // Without those of the user: their rules would allow before this agent is asked.
      args.push('--setting-sources', 'project,local', '--settings', JSON.stringify(settings));
      if (kept.memoryFile !== null) args.push('--append-system-prompt-file', kept.memoryFile);
      if (!trustRepository) args.push('--strict-mcp-config');
      if (jobServer !== undefined) args.push('--mcp-config', configOf(jobServer));
      const asked = askedSetting('model', request.job.requirements, model);
      // In one argument, so that no name is taken for an option.
      if (asked !== undefined) args.push(`--model=${asked}`);
      if (request.budgetUsd !== null) args.push('--max-budget-usd', String(request.budgetUsd));
      args.push(...(options.args ?? []));
      return {
        file: 'claude',
        args,
        stdin: composeToolPrompt(request, { resultFile: request.resultFile, hasServer }),
        env: {
          ...kept.env,
          // `@path` in a prompt would attach files from anywhere on this machine.
          CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
          MCP_TIMEOUT: String(SERVER_START_SECONDS * 1_000),
        },
        reader: new ClaudeReader(request),
      };
    },
    describe() {
      const allowed = allowedTools.length === 0 ? 'no further commands' : allowedTools.join(', ');
      return [
        ...(model === undefined ? [] : [`model ${model}`]),
        `permission mode ${permissionMode}`,
        `allowed: ${allowed}`,
        `the repository's hooks ${trustRepository ? 'run' : 'are off'}`,
      ];
    },
  };
}
