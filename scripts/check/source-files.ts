import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that hold no source of ours, at any depth. */
const foreignFolders = new Set(['node_modules', 'coverage', 'results']);

/** What the folders of the root hold code in; the house has no other. */
export const codeFolders = ['packages', 'scripts', 'e2e', 'bench', 'faults'];

/**
 * Every file under `folder` whose name ends in one of `endings`, as paths relative to `root` with
 * `/`, sorted. Folders of built or installed files and hidden ones are left out.
 */
export function listFiles(root: string, folder: string, endings: readonly string[]): string[] {
  if (!existsSync(join(root, folder))) return [];
  const found: string[] = [];
  const visit = (path: string) => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const entryPath = `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isForeign(entry.name)) visit(entryPath);
      } else if (endings.some((ending) => entry.name.endsWith(ending))) {
        found.push(entryPath);
      }
    }
  };
  visit(folder);
  return found.sort();
}

function isForeign(name: string): boolean {
  return name.startsWith('.') || /^dist(-|$)/.test(name) || foreignFolders.has(name);
}
