import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { VERSION } from '@signalbox/contract/version';

const root = join(import.meta.dirname, '../../..');
const OUTPUT_BYTES_MAX = 32 * 1_024 * 1_024;

/** The parts of a CycloneDX document that are checked. */
interface Bom {
  bomFormat: string;
  components: { name: string; version: string; purl: string; scope: string }[];
}

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

test('the bill of materials has what a hub runs with, and marks development packages', async () => {
  const run = promisify(execFile);
  const { stdout } = await run('npm', ['run', '--silent', 'sbom'], {
    ...{ cwd: root, maxBuffer: OUTPUT_BYTES_MAX, shell: process.platform === 'win32' },
  });
  const { bomFormat, components } = JSON.parse(stdout) as Bom;
  assert.equal(bomFormat, 'CycloneDX');
  const scopes = new Map(components.map(({ name, scope }) => [name, scope]));
  // The bench has some of these as development packages too; `--omit dev` would leave them out.
  for (const name of ['fastify', 'pg']) assert.equal(scopes.get(name), 'required', name);
  for (const name of ['@biomejs/biome', 'bullmq']) assert.equal(scopes.get(name), 'optional', name);
  for (const { name, version, purl } of components) {
    assert.ok(purl.startsWith('pkg:npm/') && version !== '', name);
  }
});
