import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders without source files of this project, at any depth. */
const foreignFolders = new Set(['node_modules', 'coverage', 'results']);

/** The root folders that contain code. */
export const codeFolders = ['packages', 'scripts', 'e2e', 'bench', 'faults'];

/**
 * Lists all files under `folder` whose name ends in one of `endings`: paths relative to `root` with
 * `/`, sorted. Skips hidden folders and folders of built or installed files.
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
