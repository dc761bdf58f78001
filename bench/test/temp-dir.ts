import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Creates a directory on the project's own disk, removed after the test. */
export function makeTempDir(t: { after(act: () => void): void }): string {
  const path = mkdtempSync(join(import.meta.dirname, '../.data-test-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
