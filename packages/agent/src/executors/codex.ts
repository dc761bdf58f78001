import { askedSetting } from './asked-tool.ts';
import { CodexReader } from './codex-reader.ts';
import { checkCodexSandbox, inCodexSandbox } from './codex-sandbox.ts';
import { codexServerSettings } from './codex-server.ts';
import { type Executor, ExecutorMissingError, type ExecutorRequest } from './executor.ts';
import { findOnPath, readVersion } from './find-on-path.ts';
import { JOB_SERVER_NAME, type JobServer } from './job-server.ts';
import { untestedText } from './tested-tools.ts';
import { composeToolPrompt } from './tool-prompt.ts';

export const codexSandboxes = ['read-only', 'workspace-write', 'danger-full-access'] as const;

export interface CodexExecutorOptions {
  model?: string;
  /** Codex's own sandbox. Default `workspace-write`; read-only jobs always use `read-only`. */
  sandbox?: (typeof codexSandboxes)[number];
  /** The server of the job's own tools. Absent: the tool has none. */
  jobServer?: JobServer;
  /** Additional arguments, passed unchanged. */
  args?: readonly string[];
}

/**
 * Neither a person nor a model is asked: by their configuration, or rules that they have
 * allowed in a session of their own, commands would leave the sandbox.
 */
const unattended = [
  '--ignore-rules',
  ...['-c', 'approval_policy="never"'],
  ...['-c', 'approvals_reviewer="user"'],
];

function serverArgs(server: JobServer, request: ExecutorRequest): string[] {
  // Strings, numbers and lists of strings are written in TOML as in JSON.
  return Object.entries(codexServerSettings(server, request)).flatMap(([name, value]) => [
    '-c',
    `mcp_servers.${JOB_SERVER_NAME}.${name}=${JSON.stringify(value)}`,
  ]);
}

/** Runs Codex non-interactively: `codex exec --json` prints one event per line. */
export function createCodexExecutor(options: CodexExecutorOptions = {}): Executor {
  const { model, sandbox = 'workspace-write', jobServer } = options;
  let found: string | null = null;
  return {
    name: 'codex',
    tool: 'codex',
    modelOf: (requirements) => askedSetting('model', requirements, model) ?? '',
    async check(env, user = null) {
      const file = await findOnPath('codex', env);
      if (file === null) {
        throw new ExecutorMissingError(
          'codex is not on the PATH; install Codex and log it in, or choose another tool.',
        );
      }
      if (sandbox !== 'danger-full-access') {
        await checkCodexSandbox([file], sandbox, { env, user });
      }
      found = file;
      const version = await readVersion(file, env);
      const warning = untestedText('codex', version);
      return { version, warnings: warning === null ? [] : [warning] };
    },
    ownSandbox(isReadOnly) {
      if (found === null) throw new Error('ownSandbox is called after check');
      const mode = isReadOnly ? 'read-only' : sandbox;
      return mode === 'danger-full-access'
        ? null
        : { wrap: inCodexSandbox([found], mode), env: {} };
    },
    plan(request) {
      const own = request.isReadOnly ? 'read-only' : sandbox;
      const mode = request.isSandboxOff ? 'danger-full-access' : own;
      const args = ['exec', '--json', '--sandbox', mode, ...unattended];
      args.push('--add-dir', request.toolFiles);
      if (jobServer !== undefined) args.push(...serverArgs(jobServer, request));
      const asked = askedSetting('model', request.job.requirements, model);
      // In one argument, so that no name is taken for an option.
      if (asked !== undefined) args.push(`--model=${asked}`);
      // A dash makes Codex read the prompt from standard input, so it may begin with any character.
      args.push(...(options.args ?? []), '-');
      return {
        file: 'codex',
        args,
        stdin: composeToolPrompt(request, {
          resultFile: request.isReadOnly ? null : request.resultFile,
          hasServer: jobServer !== undefined,
        }),
        reader: new CodexReader(request, asked, mode),
      };
    },
    describe: () => [...(model === undefined ? [] : [`model ${model}`]), `sandbox ${sandbox}`],
  };
}
