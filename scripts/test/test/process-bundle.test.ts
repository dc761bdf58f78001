import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { bundledScripts, bundleProcesses } from '../process-bundle.ts';

/** A project with the scripts of the bundle, and the packages of this one. */
const root = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-bundle-')));
after(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, 'node_modules'));
for (const script of bundledScripts) {
  mkdirSync(join(root, dirname(script)), { recursive: true });
  writeFileSync(join(root, script), 'export const isStarted: boolean = true;\n');
}
symlinkSync(
  join(import.meta.dirname, '../../../node_modules/typebox'),
  join(root, 'node_modules/typebox'),
);
writeFileSync(join(root, 'package-lock.json'), '{}\n');
// A list as an earlier version wrote it.
mkdirSync(join(root, 'node_modules/.cache/test-bundles'), { recursive: true });
writeFileSync(join(root, 'node_modules/.cache/test-bundles/sources.json'), '{"files":[]}');
const mainFile = join(root, 'packages/cli/src/main.ts');
const partFile = join(root, 'packages/cli/src/part.ts');
writeFileSync(
  mainFile,
  `import { version } from './part.ts';
   const paths = [process.argv[1], import.meta.dirname, import.meta.url];
   console.log(JSON.stringify([version, ...paths]));\n`,
);
const writePart = (version: number) =>
  writeFileSync(partFile, `export const version: number = ${version};\n`);
writePart(1);

function runMain(option: string): unknown {
  const env = { ...process.env, NODE_OPTIONS: option };
  const { stdout, stderr } = spawnSync(process.execPath, [mainFile], { env, encoding: 'utf8' });
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

const paths = [mainFile, join(root, 'packages/cli/src'), pathToFileURL(mainFile).href];

test('a process runs from the bundle, with the paths of its sources, until a source changes', async () => {
  const option = await bundleProcesses(root);
  assert.deepEqual(runMain(option), [1, ...paths]);
  assert.equal(await bundleProcesses(root), option, 'the same sources have one bundle');
  writePart(2);
  assert.deepEqual(runMain(option), [1, ...paths], 'the sources are not read');
  assert.deepEqual(runMain(''), [2, ...paths]);
  assert.deepEqual(runMain(await bundleProcesses(root)), [2, ...paths]);
});

test('a source that cannot be bundled is named', async () => {
  writeFileSync(partFile, "export { version } from './missing.ts';\n");
  await assert.rejects(bundleProcesses(root), /missing\.ts/);
  writePart(3);
  assert.deepEqual(runMain(await bundleProcesses(root)), [3, ...paths]);
});
