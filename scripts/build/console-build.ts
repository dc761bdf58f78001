import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../check/source-files.ts';
import { runNode } from './run-node.ts';

/** Source folders of the bundle and of the documentation, without their tests. */
const bundledFolders = [
  'packages/console',
  'packages/contract/src',
  'packages/sdk/src',
  'packages/cli/src',
  'scripts/docs',
  'docs',
];
const bundledEndings = '.ts .tsx .js .css .html .svg .png .ico .woff2 .json .md'.split(' ');

const stampName = '.build-stamp';

/**
 * Builds the console and the documentation if their sources have changed since the last build, and
 * returns the folder to serve; undefined if the project has no console.
 *
 * @param say receives one line before and one after a build; nothing if the build is current.
 * @throws with the bundler's output if the build fails; the last successful build stays in place.
 */
export async function buildConsole(
  root: string,
  say: (line: string) => void,
): Promise<string | undefined> {
  const folder = join(root, 'packages/console');
  if (!existsSync(join(folder, 'index.html'))) return undefined;
  const built = join(folder, 'dist');
  const stamp = hashSources(root);
  if (isBuilt(built, stamp)) return built;
  const startMs = performance.now();
  say('Building the console …');
  // Build in another folder and rename it: a hub that serves the folder never sees a partial build,
  // and concurrent builds do not mix.
  const draft = join(folder, `dist-${process.pid}`);
  try {
    await runVite(root, folder, draft);
    await runNode(
      'Writing the documentation',
      [join(root, 'scripts/docs/site/main.ts'), draft],
      root,
    );
    writeFileSync(join(draft, stampName), stamp);
    putInPlace(draft, built, stamp);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  say(`Built the console in ${((performance.now() - startMs) / 1_000).toFixed(1)} s.`);
  return built;
}

function hashSources(root: string): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const folder of bundledFolders) {
    for (const file of listFiles(root, folder, bundledEndings)) {
      if (file.includes('/test/') || file.includes('.test.')) continue;
      hash.update(`\n${file}\n`).update(readFileSync(join(root, file)));
    }
  }
  return hash.digest('hex');
}

function isBuilt(built: string, stamp: string): boolean {
  try {
    return readFileSync(join(built, stampName), 'utf8') === stamp;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Renames `draft` to `built`, unless a build with this stamp is there. Safe beside other processes
 * that do the same: an earlier build is renamed before it is deleted, so that `built` is never a
 * folder that another process is emptying.
 */
export function putInPlace(draft: string, built: string, stamp: string): void {
  const earlier = `${draft}-earlier`;
  let isMoved = false;
  while (!isMoved && !isBuilt(built, stamp)) {
    renameUnless(['ENOENT'], built, earlier);
    // Not where another process has put its build meanwhile: that one is judged like the earlier.
    isMoved = renameUnless(['ENOTEMPTY', 'EEXIST'], draft, built);
    rmSync(earlier, { recursive: true, force: true });
  }
}

/** Returns false where the rename fails with one of the codes. */
function renameUnless(codes: readonly string[], from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
}

/** Runs Vite in a separate process, to keep it and its plugins out of the hub's memory. */
function runVite(root: string, folder: string, outDir: string): Promise<void> {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'build', '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  return runNode('Building the console', args, folder);
}
