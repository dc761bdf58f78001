import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Finding } from './check-imports.ts';
import { codeFolders, listDocuments, listFiles } from './source-files.ts';

/** Folders that documents may leave out of a path: `jobs/claim.ts` is a file of the hub. */
const roots = [
  '',
  'packages/',
  'packages/hub/',
  'packages/hub/src/',
  'packages/agent/src/',
  'packages/cli/src/',
  'packages/console/src/',
  'packages/contract/src/',
  'packages/sdk/src/',
];

/** A file of the source in backticks, with or without a folder before it. */
const mention = /`((?:[a-z0-9-]+\/)*[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:ts|tsx|mjs))`/g;

/**
 * Files that documents name and that do not exist; a test looks at links. A decision records a
 * moment, and so does the changelog: the files that they name may have moved since.
 */
export function checkDocPaths(root: string): Finding[] {
  const sources = codeFolders.flatMap((folder) => listFiles(root, folder, ['.ts', '.tsx', '.mjs']));
  const names = new Set(sources.map((path) => basename(path)));
  const isKnown = (path: string) =>
    path.includes('/')
      ? roots.some((folder) => existsSync(join(root, folder + path)))
      : names.has(path);
  return listDocuments(root)
    .filter((file) => file !== 'CHANGELOG.md' && !file.startsWith('docs/decisions/'))
    .flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      return lines.flatMap((text, index) =>
        [...text.matchAll(mention)]
          .map(([, path = '']) => path)
          .filter((path) => !isKnown(path))
          .map((path) => ({ file, line: index + 1, message: `names ${path}: no such file` })),
      );
    });
}
