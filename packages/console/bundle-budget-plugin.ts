import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** What a person loads before the job list shows, compressed as hubs send it. */
const FIRST_VIEW_BYTES_MAX = 180 * 1024;
/** The entry, and the pages that make up the first view of somebody who is signed in. */
const firstViewModules = ['src/main.tsx', 'src/pages/shell.tsx', 'src/pages/jobs.tsx'];

/** Prints the JavaScript of the first view, and fails the build when it outgrows its budget. */
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
        const chunk = chunks.find(({ facadeModuleId }) =>
          module === 'src/main.tsx'
            ? facadeModuleId?.endsWith('index.html')
            : facadeModuleId?.endsWith(module),
        );
        if (!chunk) this.error(`no chunk holds ${module}: is it still a route of its own?`);
        need(chunk.fileName);
      }
      const sizeBytes = chunks
        .filter((chunk) => needed.has(chunk.fileName))
        .reduce((sum, chunk) => sum + gzipSync(chunk.code).length, 0);
      const text = `first view: ${(sizeBytes / 1024).toFixed(1)} KB of JavaScript, compressed`;
      if (sizeBytes > FIRST_VIEW_BYTES_MAX) {
        this.error(`${text}; the budget is ${FIRST_VIEW_BYTES_MAX / 1024} KB`);
      }
      this.info(text);
    },
  };
}
