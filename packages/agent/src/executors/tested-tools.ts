import { findOnPath, readVersion } from './find-on-path.ts';

/** A package of npm that brings a coding tool or an adapter. */
export interface TestedTool {
  package: string;
  version: string;
}

/**
 * The coding tools and ACP adapters with which the permissions were tried, by command. Another
 * version may have a mode or settings that answer before this agent is asked. To see what a newer
 * one changes: `npm run coding-tools -- --newest`.
 */
export const testedTools = {
  claude: { package: '@anthropic-ai/claude-code', version: '2.1.332' },
  codex: { package: '@openai/codex', version: '0.171.0' },
  opencode: { package: 'opencode-ai', version: '1.18.33' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0' },
  'claude-agent-acp': { package: '@agentclientprotocol/claude-agent-acp', version: '0.101.0' },
  'codex-acp': { package: '@agentclientprotocol/codex-acp', version: '2.6.0' },
} as const satisfies Readonly<Record<string, TestedTool>>;

export type TestedCommand = keyof typeof testedTools;

/** A tested tool as npm takes it. */
export function packageOf(command: TestedCommand): string {
  const tool = testedTools[command];
  return `${tool.package}@${tool.version}`;
}

/**
 * The versions of some commands, as they print them, and a sentence for each that was not tested.
 * Commands that are not found are left out.
 */
export async function readVersions(
  commands: readonly TestedCommand[],
  env: NodeJS.ProcessEnv,
): Promise<{ versions: Partial<Record<TestedCommand, string>>; warnings: string[] }> {
  const versions: Partial<Record<TestedCommand, string>> = {};
  const found = await Promise.all(
    commands.map(async (command) => {
      const file = await findOnPath(command, env);
      if (file === null) return null;
      const version = await readVersion(file, env);
      if (version !== null) versions[command] = version;
      return untestedText(command, version);
    }),
  );
  return { versions, warnings: found.filter((text) => text !== null) };
}

/** Null: the version is the tested one. */
export function untestedText(command: TestedCommand, printed: string | null): string | null {
  const { version: tested } = testedTools[command];
  const [version] = /\d+(\.\d+)+[\w.+-]*/.exec(printed ?? '') ?? [];
  if (version === tested) return null;
  const found = version ?? 'of an unknown version';
  return `${command} ${found} was not tested with this agent, ${tested} was: its permissions may differ.`;
}
