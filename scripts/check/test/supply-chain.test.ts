import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '@signalbox/contract/version';

const root = join(import.meta.dirname, '../../..');
test('the workflow audits the packages of the lock file and keeps the bill of materials', () => {
  const workflow = readFileSync(join(root, '.github/workflows/check.yml'), 'utf8');
  for (const command of ['npm audit --audit-level=moderate', 'npm run --silent sbom >']) {
    assert.ok(workflow.includes(`- run: ${command}`), `no step runs: ${command}`);
  }
});

test('the repository and its packages have one version', () => {
  for (const path of globSync('{.,packages/*}/package.json', { cwd: root })) {
    assert.equal(JSON.parse(readFileSync(join(root, path), 'utf8')).version, VERSION, path);
  }
});
