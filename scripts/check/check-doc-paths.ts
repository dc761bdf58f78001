import { existsSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
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
const link = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g;

/**
 * Files that documents name and that do not exist, and links that lead nowhere. A decision records
 * a moment, so the files that it names may have moved since; its links must work.
 */
export function checkDocPaths(root: string): Finding[] {
  const sources = codeFolders.flatMap((folder) => listFiles(root, folder, ['.ts', '.tsx', '.mjs']));
  const names = new Set(sources.map((path) => basename(path)));
  // The changelog names files as they were at the time.
  const documents = listDocuments(root).filter((file) => file !== 'CHANGELOG.md');
  return documents.flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    const isRecord = file.startsWith('docs/decisions/');
    return lines.flatMap((text, index) => {
      const missing = isRecord ? [] : matches(text, mention).filter((path) => !isKnown(path));
      const broken = matches(text, link).filter(
        (path) => !existsSync(join(root, posix.join(posix.dirname(file), path))),
      );
      return [
        ...missing.map((path) => `names ${path}, which does not exist`),
        ...broken.map((path) => `links to ${path}, which does not exist`),
      ].map((message) => ({ file, line: index + 1, message }));
    });
  });

  function isKnown(path: string): boolean {
    if (!path.includes('/')) return names.has(path);
    return roots.some((folder) => existsSync(join(root, folder + path)));
  }
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, path = '']) => path);
}
