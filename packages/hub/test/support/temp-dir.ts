import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Makes a directory that is deleted with the test. */
export function makeTempDir(t: Pick<TestContext, 'after'>): string {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
