import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Inside the published package, and in a clone. */
const folders = ['../../console', '../../../console/dist'];

/** The folder of the built console; undefined in a clone that has not built it yet. */
export function findBuiltConsole(): string | undefined {
  return folders
    .map((folder) => join(import.meta.dirname, folder))
    .find((folder) => existsSync(join(folder, 'index.html')));
}
