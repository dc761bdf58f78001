import { type TestedCommand, type TestedTool, testedTools } from '@signalbox/agent';

/** A coding tool, an adapter that speaks ACP for one, or a judge, as the scenarios install it. */
export interface ToolEntry extends TestedTool {
  /** The name of the command, as a person has it on the PATH. */
  readonly command: TestedCommand | 'conformance';
  /**
   * The program below the installation. A native binary is started directly, because the scripts
   * around it expect an installation with scripts on.
   */
  readonly program: string;
  /** `node`: the program is JavaScript for the project's own Node. */
  readonly runs: 'native' | 'node';
  /** False: optional packages are left out, because they repeat a tool of this table. */
  readonly optional: boolean;
}

const { platform, arch } = process;
const rustTargets: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};
const rustTarget = rustTargets[`${platform}-${arch}`] ?? 'unknown';

/** Versions to try in place of the tested ones, as `claude=2.1.333 codex-acp=2.7.0`. */
export const TRIED_VARIABLE = 'SIGNALBOX_TRIED_TOOLS';
const tried = new Map(
  (process.env[TRIED_VARIABLE] ?? '').split(' ').map((each) => {
    const [command = '', version = ''] = each.split('=');
    return [command, version];
  }),
);

function native(command: TestedCommand, program: string): ToolEntry {
  return { ...versioned(command), program, runs: 'native', optional: true };
}

function script(command: TestedCommand, program: string): ToolEntry {
  const { package: name } = testedTools[command];
  return { ...versioned(command), program: `${name}/${program}`, runs: 'node', optional: false };
}

function versioned(command: TestedCommand) {
  const tested: TestedTool = testedTools[command];
  return { ...tested, command, version: tried.get(command) ?? tested.version };
}

/**
 * The tools of the bench, in the versions that the agent knows (`testedTools`): npm would otherwise
 * choose the newest version that suits the running Node, which may be years old.
 */
export const tools = {
  claude: native('claude', `@anthropic-ai/claude-code-${platform}-${arch}/claude`),
  codex: native('codex', `@openai/codex-${platform}-${arch}/vendor/${rustTarget}/bin/codex`),
  opencode: native('opencode', `opencode-${platform}-${arch}/bin/opencode`),
  gemini: script('gemini', 'bundle/gemini.js'),
  /** Set CLAUDE_CODE_EXECUTABLE to the program of `claude`. */
  'claude-acp': script('claude-agent-acp', 'dist/index.js'),
  /** Set CODEX_PATH to the program of `codex`. */
  'codex-acp': script('codex-acp', 'dist/index.js'),
  /** Asks servers of the Model Context Protocol whether they keep to it. */
  'mcp-conformance': {
    package: '@modelcontextprotocol/conformance',
    version: '0.1.16',
    command: 'conformance',
    program: '@modelcontextprotocol/conformance/dist/index.js',
    runs: 'node',
    optional: false,
  },
} as const satisfies Readonly<Record<string, ToolEntry>>;

export type ToolName = keyof typeof tools;

/** The tools that CI installs. */
export const ciTools: readonly ToolName[] = [
  ...(['claude', 'codex', 'claude-acp', 'codex-acp'] as const),
  'mcp-conformance',
];
