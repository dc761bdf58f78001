import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders with files that are not ours, at any depth. */
const foreignFolders = new Set(['node_modules', 'coverage', 'results']);

/** The folders of the root that hold code. */
export const codeFolders = ['packages', 'scripts', 'e2e', 'bench'];

/**
 * Lists the files under `folder` whose names end in one of `endings`, as sorted paths relative to
 * `root` with `/`. Skips folders of built or installed files and hidden ones.
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

/** Lists the documents of the project: the pages beside its manifest, and those of its folders. */
export function listDocuments(root: string): string[] {
  const pages = readdirSync(root).filter((name) => name.endsWith('.md'));
  const folders = ['docs', 'packages', 'bench'];
  return [...pages.sort(), ...folders.flatMap((folder) => listFiles(root, folder, ['.md']))];
}

function isForeign(name: string): boolean {
  return name.startsWith('.') || /^dist(-|$)/.test(name) || foreignFolders.has(name);
}
