import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a directory that is deleted with `t`: a test, or `{ after }` of a suite. */
export function makeTempDir(t: { after(act: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-e2e-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
