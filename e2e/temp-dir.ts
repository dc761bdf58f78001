import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A directory that goes away with the scenario. */
export function makeTempDir(t: Pick<TestContext, 'after'>): string {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-e2e-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
