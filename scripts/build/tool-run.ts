import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The command files of the installed tools; all run with the current Node. */
const toolFiles = {
  biome: '@biomejs/biome/bin/biome',
  oxlint: 'oxlint/bin/oxlint',
  tsc: 'typescript/bin/tsc',
} as const;

/** Runs an installed tool and shows its output; returns true if it found nothing. */
export function runTool(
  root: string,
  tool: keyof typeof toolFiles,
  args: readonly string[],
): boolean {
  const file = join(root, 'node_modules', toolFiles[tool]);
  const { status, error } = spawnSync(process.execPath, [file, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  return status === 0;
}
