// `npm run older-nodes`: fetches the older versions of Node that the packages are tested with.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodePackageName, olderNodes, olderNodesFolder } from './build/older-nodes.ts';

const root = join(import.meta.dirname, '..');
const folder = olderNodesFolder(root);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
const packages = Object.entries(olderNodes).map(
  ([major, version]) => `node-${major}@npm:${nodePackageName(root)}@${version}`,
);
const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
const { status, error } = spawnSync('npm', ['install', ...flags, ...packages], {
  cwd: folder,
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
