// `npm run pack`: builds the packages that npm users install, as archives in dist/packages.
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packPackages } from './build/pack-packages.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist/packages');

try {
  const startMs = performance.now();
  rmSync(folder, { recursive: true, force: true });
  const archives = await packPackages(root, folder, (line) => process.stderr.write(`${line}\n`));
  for (const path of archives) process.stdout.write(`${relative(root, path)}\n`);
  process.stderr.write(`Packed in ${((performance.now() - startMs) / 1_000).toFixed(1)} s.\n`);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n`);
  process.exitCode = 1;
}
