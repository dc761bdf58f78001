/** A coding tool, an adapter that speaks ACP for one, or a judge, as the scenarios install it. */
export interface ToolEntry {
  /** The package of npm, in exactly this version. */
  readonly package: string;
  readonly version: string;
  /** The name of the command, as a person has it on the PATH. */
  readonly command: string;
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

/**
 * The tools of the bench. To move to another version, change its line; npm would otherwise choose
 * the newest version that suits the running Node, which may be years old.
 */
export const tools = {
  claude: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    command: 'claude',
    program: `@anthropic-ai/claude-code-${platform}-${arch}/claude`,
    runs: 'native',
    optional: true,
  },
  codex: {
    package: '@openai/codex',
    version: '0.171.0',
    command: 'codex',
    program: `@openai/codex-${platform}-${arch}/vendor/${rustTarget}/bin/codex`,
    runs: 'native',
    optional: true,
  },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    command: 'opencode',
    program: `opencode-${platform}-${arch}/bin/opencode`,
    runs: 'native',
    optional: true,
  },
  gemini: {
    package: '@google/gemini-cli',
    version: '0.61.0',
    command: 'gemini',
    program: '@google/gemini-cli/bundle/gemini.js',
    runs: 'node',
    optional: false,
  },
  /** Set CLAUDE_CODE_EXECUTABLE to the program of `claude`. */
  'claude-acp': {
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.101.0',
    command: 'claude-agent-acp',
    program: '@agentclientprotocol/claude-agent-acp/dist/index.js',
    runs: 'node',
    optional: false,
  },
  /** Set CODEX_PATH to the program of `codex`. */
  'codex-acp': {
    package: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    command: 'codex-acp',
    program: '@agentclientprotocol/codex-acp/dist/index.js',
    runs: 'node',
    optional: false,
  },
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
