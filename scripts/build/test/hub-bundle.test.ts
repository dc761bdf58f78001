import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { buildHub, planHubBundle } from '../hub-bundle.ts';
import { findBundle } from '../source-bundle.ts';

const project = join(import.meta.dirname, '../../..');

/** A project whose hub has a version and can fail, with the packages of this one. */
function createProject(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-hub-bundle-')));
  t.after(() => rmSync(root, { recursive: true }));
  const sources = join(root, 'packages/hub/src');
  mkdirSync(sources, { recursive: true });
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  for (const name of ['kysely', 'typebox']) {
    symlinkSync(join(project, 'node_modules', name), join(root, 'node_modules', name));
  }
  writeFileSync(join(root, 'package-lock.json'), '{}\n');
  writeFileSync(join(root, 'packages/hub/package.json'), '{"type":"module"}\n');
  writeFileSync(join(sources, 'index.ts'), "export { fail, version } from './part.ts';\n");
  const writePart = (version: number) =>
    writeFileSync(
      join(sources, 'part.ts'),
      `interface Part { version: number }
export const { version }: Part = { version: ${version} };

export function fail(): never {
  throw new Error('the hub failed');
}
`,
    );
  writePart(1);
  const said: string[] = [];
  const build = () => buildHub(root, (line) => said.push(line));
  return { root, sources, said, build, writePart };
}

/** Runs code with the hub of the bundle, in a process of its own. */
function runWith(root: string, bundle: string | null, code: string): string {
  const module = pathToFileURL(join(import.meta.dirname, '../hub-bundle.ts')).href;
  const hub = pathToFileURL(join(root, 'packages/hub/src/index.ts')).href;
  const script = `
    const { useHubBundle } = await import('${module}');
    await useHubBundle(${JSON.stringify(bundle)});
    const { fail, version } = await import('${hub}');
    ${code}`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout.trim();
}

test('the hub is bundled when a source has changed, and runs from the bundle', async (t) => {
  const { root, said, build, writePart } = createProject(t);
  const first = await build();
  assert.deepEqual(said, ['Bundling the hub …']);
  assert.equal(await build(), first);
  assert.equal(said.length, 1, 'a bundle of the present sources is used again');
  writePart(2);
  assert.equal(findBundle(planHubBundle(root)), null);
  assert.equal(runWith(root, first, 'console.log(version)'), '1', 'the sources are not read');
  const second = await build();
  assert.equal(runWith(root, second, 'console.log(version)'), '2');
  assert.equal(runWith(root, first, 'console.log(version)'), '1', 'a running hub keeps its bundle');
  writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion":3}\n');
  assert.equal(findBundle(planHubBundle(root)), null, 'other packages need another bundle');
});

test('a stack names the lines of the sources', async (t) => {
  const { root, sources, build } = createProject(t);
  const code = 'try { fail(); } catch (error) { console.log(error.stack); }';
  const bundle = await build();
  const [head, top] = runWith(root, bundle, code).split('\n');
  assert.equal(head, 'Error: the hub failed');
  assert.equal(top, `    at fail (${join(sources, 'part.ts')}:5:9)`);
  const folder = dirname(bundle ?? '');
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.map')) rmSync(join(folder, file));
  }
  assert.match(
    runWith(root, bundle, code),
    /^Error: the hub failed\n {4}at fail \(.*index\.ts\.js:/,
  );
});

test('starts at once bundle the hub without harm, also after one that was interrupted', async (t) => {
  const { root, build } = createProject(t);
  const { place } = planHubBundle(root);
  mkdirSync(join(place, 'draft-1'), { recursive: true });
  const bundles = await Promise.all([build(), build(), build()]);
  assert.equal(new Set(bundles).size, 1);
  assert.equal(runWith(root, bundles[0] ?? null, 'console.log(version)'), '1');
  assert.equal(readdirSync(place).length, 3, 'the list, the bundle and the interrupted draft');
});

test('a hub that cannot be bundled starts from its sources and says why', async (t) => {
  const { sources, said, build } = createProject(t);
  writeFileSync(join(sources, 'index.ts'), "export { version } from './missing.ts';\n");
  assert.equal(await build(), null);
  const [first, second = ''] = said;
  assert.equal(first, 'Bundling the hub …');
  assert.match(second, /missing\.ts.*\nThe hub starts from its sources\.$/s);
});

test('npm start loads no source of the hub', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-start-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const hooks = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({
      load(url, context, next) {
        if (/packages\\/(hub|contract)\\//.test(url)) loaded.push(url);
        return next(url, context);
      },
    });
    process.on('exit', () => console.log(JSON.stringify(loaded)));`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      `--import=data:text/javascript,${encodeURIComponent(hooks)}`,
      ...[join(project, 'scripts/start.ts'), '--port', 'none', '--data-dir', dataDir],
    ],
    { encoding: 'utf8' },
  );
  assert.match(stderr, /SVC_PORT is "none"/);
  assert.equal(status, 1);
  const loaded: string[] = JSON.parse(stdout);
  assert.deepEqual(
    loaded.filter((url) => !url.includes('/node_modules/.cache/')),
    [],
  );
  assert.ok(loaded.length > 0, 'the bundle was loaded');
  assert.ok(existsSync(planHubBundle(project).place));
});
