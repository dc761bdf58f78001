import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Budget of the JavaScript loaded before the job list shows, compressed as hubs send it. */
const FIRST_VIEW_BYTES_MAX = 180 * 1024;
/** The entry, the first pages, and the loader that the bundler adds. */
const FIRST_VIEW_FILES_MAX = 3;
/** The entry, and the pages that form the first view of a signed-in person. */
const firstViewModules = [
  'src/main.tsx',
  'src/pages/shell.tsx',
  'src/pages/jobs.tsx',
  'src/pages/inbox.tsx',
];

/** Prints the JavaScript of the first view, and fails the build if it is more than the budget. */
export function bundleBudget(): Plugin {
  return {
    name: 'signalbox-bundle-budget',
    apply: 'build',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const needed = new Set<string>();
      const need = (fileName: string) => {
        if (needed.has(fileName)) return;
        needed.add(fileName);
        chunks.find((chunk) => chunk.fileName === fileName)?.imports.forEach(need);
      };
      for (const module of firstViewModules) {
        const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(module)));
        if (!chunk)
          this.error(`no file contains ${module}: is it still a module of the first view?`);
        need(chunk.fileName);
      }
      const sizeBytes = chunks
        .filter((chunk) => needed.has(chunk.fileName))
        .reduce((sum, chunk) => sum + gzipSync(chunk.code).length, 0);
      const size = `${(sizeBytes / 1024).toFixed(1)} KB of JavaScript, compressed`;
      const text = `first view: ${needed.size} files, ${size}`;
      if (sizeBytes > FIRST_VIEW_BYTES_MAX) {
        this.error(`${text} exceeds the budget of ${FIRST_VIEW_BYTES_MAX / 1024} KB`);
      }
      if (needed.size > FIRST_VIEW_FILES_MAX) {
        this.error(`${text}, which are more than ${FIRST_VIEW_FILES_MAX}`);
      }
      this.info(text);
    },
  };
}
