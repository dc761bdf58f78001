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

/** Warns of commands whose version was not tested, as sentences. Those not found are left out. */
export async function findUntested(
  commands: readonly TestedCommand[],
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const found = await Promise.all(
    commands.map(async (command) => {
      const file = await findOnPath(command, env);
      return file === null ? null : untestedText(command, await readVersion(file, env));
    }),
  );
  return found.filter((text) => text !== null);
}

/** Null: the version is the tested one. */
export function untestedText(command: TestedCommand, printed: string | null): string | null {
  const tested = testedVersions[command];
  const [version] = /\d+(\.\d+)+[\w.+-]*/.exec(printed ?? '') ?? [];
  if (version === tested) return null;
  const found = version ?? 'of an unknown version';
  return `${command} ${found} was not tested with this agent, ${tested} was: its permissions may differ.`;
}
