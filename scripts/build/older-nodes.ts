import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The versions of Node that the packages are tested with, beside the project's own. */
export const olderNodes = { 22: '22.23.3', 24: '24.21.0' } as const;
export type OlderNode = keyof typeof olderNodes;

/** Where `npm run older-nodes` installs them. */
export function olderNodesFolder(root: string): string {
  return join(root, 'dist/older-nodes');
}

/** The program of an older Node, whether or not it is installed. */
export function olderNode(root: string, major: OlderNode): string {
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  return join(olderNodesFolder(root), 'node_modules', `node-${major}`, 'bin', file);
}

/**
 * The npm package that contains Node for this machine.
 * @throws on a platform without one.
 */
export function nodePackageName(root: string): string {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const names = Object.keys(manifest.optionalDependencies);
  // npm has left those of other platforms out.
  const found = names.find((name) => existsSync(join(root, 'node_modules', name)));
  if (found === undefined) throw new Error('npm has no Node for this platform.');
  return found;
}
