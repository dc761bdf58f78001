import { findOnPath, readVersion } from './find-on-path.ts';

/**
 * The versions of coding tools and ACP adapters with which the permissions were tried, by command
 * (`e2e/tools`). Another version may have a mode or settings that answer before this agent is
 * asked.
 */
export const testedVersions = {
  claude: '2.1.332',
  codex: '0.171.0',
  opencode: '1.18.33',
  gemini: '0.61.0',
  'claude-agent-acp': '0.101.0',
  'codex-acp': '2.6.0',
} as const;

export type TestedCommand = keyof typeof testedVersions;

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
  const tested = testedVersions[command];
  const [version] = /\d+(\.\d+)+[\w.+-]*/.exec(printed ?? '') ?? [];
  if (version === tested) return null;
  const found = version ?? 'of an unknown version';
  return `${command} ${found} was not tested with this agent, ${tested} was: its permissions may differ.`;
}
