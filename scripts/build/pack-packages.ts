import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buildConsole } from './console-build.ts';
import { type Manifest, packedManifest } from './packed-manifest.ts';
import { runTool } from './tool-run.ts';

/** The packages for npm; what one depends on comes before it. */
export const packedPackages = ['contract', 'sdk', 'agent', 'hub', 'cli'] as const;
/** Files and folders that a package ships beside its built sources, where it has them. */
const shippedEntries = ['bin', 'node-flags.json', 'tool-settings', 'README.md'];

/**
 * Builds the packages as JavaScript with declarations, and packs each as npm publishes it.
 *
 * @param outDir receives the archives.
 * @returns the paths of the archives, in the order of `packedPackages`.
 */
export async function packPackages(
  root: string,
  outDir: string,
  say: (line: string) => void,
): Promise<string[]> {
  const consoleDir = await buildConsole(root, say);
  if (consoleDir === undefined) throw new Error('packages/console is missing.');
  mkdirSync(outDir, { recursive: true });
  const draft = mkdtempSync(join(outDir, '.draft-'));
  try {
    say('Compiling the packages …');
    const built = join(draft, 'built');
    const config = join(root, 'scripts/build/tsconfig.pack.json');
    if (!runTool(root, 'tsc', ['--project', config, '--outDir', built])) {
      throw new Error('The packages do not compile: mend the errors above.');
    }
    const folders = packedPackages.map((name) => {
      const folder = join(draft, name);
      stagePackage(root, name, { built: join(built, name, 'src'), consoleDir, folder });
      return folder;
    });
    return runNpmPack(folders, outDir).map((file) => join(outDir, file));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Fills `folder` with exactly what the package of that name ships. */
function stagePackage(
  root: string,
  name: (typeof packedPackages)[number],
  place: { built: string; consoleDir: string; folder: string },
): void {
  const { built, consoleDir, folder } = place;
  const source = join(root, 'packages', name);
  cpSync(built, join(folder, 'dist'), { recursive: true });
  for (const file of globSync('dist/**/*.js', { cwd: folder })) redirectFiles(join(folder, file));
  for (const entry of shippedEntries) {
    const path = join(source, entry);
    if (existsSync(path)) cpSync(path, join(folder, entry), { recursive: true });
  }
  if (name === 'hub') {
    const isShipped = (path: string) => !path.endsWith('.build-stamp');
    cpSync(consoleDir, join(folder, 'console'), { recursive: true, filter: isShipped });
  }
  const files = readdirSync(folder).filter((file) => file !== 'README.md');
  const { optionalDependencies = {} } = readManifest(root);
  const manifest = packedManifest(readManifest(source), optionalDependencies, files);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Files that code names beside `import`, such as those of worker threads, are JavaScript now. */
function redirectFiles(path: string): void {
  const code = readFileSync(path, 'utf8');
  const url = /(new URL\('[^']+)\.ts('\s*,\s*import\.meta\.url)/g;
  const joined = /(join\(import\.meta\.dirname, '[^']+)\.ts(')/g;
  const redirected = code.replaceAll(url, '$1.js$2').replaceAll(joined, '$1.js$2');
  if (redirected !== code) writeFileSync(path, redirected);
}

/** Returns the names of the archives. */
function runNpmPack(folders: readonly string[], outDir: string): string[] {
  const args = ['pack', ...folders, '--pack-destination', outDir, '--ignore-scripts', '--json'];
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr.trim()}`);
  return (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => filename);
}
