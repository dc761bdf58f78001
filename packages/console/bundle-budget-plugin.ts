import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Budget of the JavaScript loaded before the job list shows, compressed as hubs send it. */
const FIRST_VIEW_BYTES_MAX = 180 * 1024;
/** The entry, and the pages that form the first view of a signed-in person. */
const firstViewModules = ['src/main.tsx', 'src/pages/shell.tsx', 'src/pages/jobs.tsx'];

/** Prints the JavaScript size of the first view and fails the build if it exceeds the budget. */
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
        if (!chunk)
          this.error(`no chunk contains ${module}: check that it is still a separate route`);
        need(chunk.fileName);
      }
      const sizeBytes = chunks
        .filter((chunk) => needed.has(chunk.fileName))
        .reduce((sum, chunk) => sum + gzipSync(chunk.code).length, 0);
      const text = `first view: ${(sizeBytes / 1024).toFixed(1)} KB of JavaScript, compressed`;
      if (sizeBytes > FIRST_VIEW_BYTES_MAX) {
        this.error(`${text} exceeds the budget of ${FIRST_VIEW_BYTES_MAX / 1024} KB`);
      }
      this.info(text);
    },
  };
}
