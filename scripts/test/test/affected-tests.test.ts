import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { chooseAffected } from '../affected-tests.ts';
import { readChanges } from '../changed-files.ts';
import { readImportGraph } from '../import-graph.ts';

const root = mkdtempSync(join(tmpdir(), 'signalbox-affected-'));
after(() => rmSync(root, { recursive: true }));

const hub = 'packages/hub';
/** A project in small: two modules that use each other one way, a composition, fixtures, tests. */
const sources: Record<string, string> = {
  'scripts/test.ts': "import './test/run.ts';",
  'scripts/test/run.ts': '',
  'packages/contract/package.json': '{"exports":{".":"./src/index.ts","./text":"./src/text.ts"}}',
  'packages/contract/src/text.ts': '',
  'packages/contract/src/index.ts': "export * from './ids.ts';",
  'packages/contract/src/ids.ts': '',
  [`${hub}/src/app.ts`]:
    "import './jobs/routes.ts'; import './triggers/fire.ts'; import './db/db.ts';",
  [`${hub}/src/main.ts`]: "import './app.ts';",
  [`${hub}/src/errors.ts`]: "import '@signalbox/contract'; import '@signalbox/contract/text';",
  [`${hub}/src/db/db.ts`]: '',
  [`${hub}/src/jobs/routes.ts`]: "import './enqueue.ts'; import './claim.ts';",
  [`${hub}/src/jobs/enqueue.ts`]: "import './store.ts';",
  [`${hub}/src/jobs/claim.ts`]: "import './store.ts'; import '../errors.ts';",
  [`${hub}/src/jobs/store.ts`]: '',
  [`${hub}/src/triggers/fire.ts`]: "import '../jobs/enqueue.ts';",
  [`${hub}/src/queue/queue.ts`]: '',
  [`${hub}/test/queue/order.test.ts`]: "import '../support/test-hub.ts';",
  [`${hub}/src/integrations/ingest.ts`]: "import { fire } from '../triggers/fire.ts';",
  [`${hub}/src/uploads/row.ts`]: "import type { Job } from '../jobs/store.ts';",
  [`${hub}/test/support/test-hub.ts`]:
    "import '../../src/app.ts'; import '../../src/jobs/store.ts';",
  [`${hub}/test/support/child.ts`]: "const main = join(import.meta.dirname, '../../src/main.ts');",
  [`${hub}/test/conformance/conformance.test.ts`]: "import '../support/test-hub.ts';",
  [`${hub}/test/jobs/claim.test.ts`]: "import '../support/test-hub.ts';",
  [`${hub}/test/triggers/fire.test.ts`]: "import '../support/test-hub.ts';",
  [`${hub}/test/integrations/ingest.test.ts`]: "import '../support/test-hub.ts';",
  [`${hub}/test/uploads/row.test.ts`]: "import '../support/test-hub.ts';",
  [`${hub}/test/start/claim-bytes.test.ts`]:
    "const { a } = await import('../../src/jobs/claim.ts');",
  [`${hub}/test/start/start.test.ts`]: "import '../support/child.ts';",
  'packages/sdk/src/index.ts': "import { ids } from '@signalbox/contract';",
  'packages/sdk/test/vectors.test.ts':
    "new URL('./vectors.json', import.meta.url); import '../src/index.ts';",
  'packages/sdk/test/vectors.json': '{}',
  'packages/cli/package.json': '{"exports":{".":"./src/index.ts"}}',
  'packages/cli/src/index.ts': "import './jobs.ts';",
  'packages/cli/src/jobs.ts': '',
  'packages/cli/test/jobs.test.ts': "import '../src/index.ts';",
  'packages/cli/test/text.test.ts': '',
  'e2e/02-command.test.ts': "import '@signalbox/cli';",
  'e2e/browser.ts': '',
  'e2e/01-page.test.ts': "import './browser.ts'; const script = 'packages/hub/src/main.ts';",
  'packages/console/src/main.tsx': "import './page.tsx';",
  'packages/console/src/page.tsx': '',
  'docs/guide.md': '',
};
for (const [path, text] of Object.entries(sources)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const graph = readImportGraph(root, Object.keys(sources));
const tests = Object.keys(sources).filter((path) => path.endsWith('.test.ts'));

/** The names of the tests that a change of these files touches. */
function namesFor(...changed: string[]): string[] {
  const affected = chooseAffected(graph, changed, tests);
  return [...affected.tests].map(nameOf).sort();
}

function nameOf(path: string): string {
  return path.replace(/^.*\/|\.test\.ts$/g, '');
}

const ofHub = [
  '01-page',
  'claim',
  'claim-bytes',
  'conformance',
  'fire',
  'ingest',
  'order',
  'row',
  'start',
];

test('a change inside a module runs its tests, those of its direct users, and conformance', () => {
  const enqueue = namesFor(`${hub}/src/jobs/enqueue.ts`);
  assert.deepEqual(enqueue, ['claim', 'conformance', 'fire']);
  const claim = namesFor(`${hub}/src/jobs/claim.ts`);
  assert.deepEqual(claim, ['claim', 'claim-bytes', 'conformance'], 'and a test that imports it');
  const store = namesFor(`${hub}/src/jobs/store.ts`);
  assert.deepEqual(store, ['claim', 'claim-bytes', 'conformance', 'fire'], 'fixtures do not count');
  const queue = namesFor(`${hub}/src/queue/queue.ts`);
  assert.deepEqual(queue, ['claim', 'conformance', 'order'], 'jobs use it through their deps');
});

test('a change of what all modules use runs every test that reaches it', () => {
  assert.deepEqual(
    namesFor(`${hub}/src/db/db.ts`),
    ofHub.filter((name) => name !== 'claim-bytes'),
  );
  assert.deepEqual(namesFor(`${hub}/src/errors.ts`), ofHub);
  assert.deepEqual(namesFor('packages/contract/src/ids.ts'), [...ofHub, 'vectors']);
  assert.deepEqual(namesFor('packages/contract/src/text.ts'), ofHub, 'a part of a package');
  assert.deepEqual(namesFor(`${hub}/test/support/test-hub.ts`), [
    'claim',
    'conformance',
    'fire',
    'ingest',
    'order',
    'row',
  ]);
});

test('files that are spawned, loaded by URL or built are followed, types are not', () => {
  assert.deepEqual(namesFor(`${hub}/src/main.ts`), ['01-page', 'start']);
  assert.deepEqual(namesFor('packages/sdk/test/vectors.json'), ['vectors']);
  assert.deepEqual(namesFor('packages/console/src/page.tsx'), ['01-page']);
  assert.deepEqual(namesFor(`${hub}/src/uploads/row.ts`), ['conformance', 'row']);
  assert.deepEqual(namesFor('docs/guide.md'), []);
});

test('a change of the command line runs its tests that need it, and no whole system', () => {
  assert.deepEqual(namesFor('packages/cli/src/jobs.ts'), ['jobs']);
  assert.deepEqual(namesFor('packages/cli/test/text.test.ts'), ['text']);
  assert.deepEqual(namesFor('e2e/02-command.test.ts'), ['02-command']);
});

test('a change of packages, compiler or runner runs everything and is named', () => {
  for (const file of [
    'package.json',
    'packages/sdk/package.json',
    'package-lock.json',
    'tsconfig.json',
    'scripts/test/run.ts',
  ]) {
    const affected = chooseAffected(graph, ['docs/guide.md', file], tests);
    assert.equal(affected.everythingFor, file);
    assert.equal(affected.tests.size, tests.length);
  }
});

test('changes are those of the branch and of the working tree', () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  const commit = (name: string) => {
    const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.test'];
    git('add', '--all');
    git(...person, 'commit', '--quiet', '--message', name);
  };
  assert.throws(() => readChanges(root, ''), /--changed asks git, which says: .*not a git repos/);
  git('init', '--quiet', '--initial-branch', 'main');
  commit('Begin');
  git('checkout', '--quiet', '-b', 'branch');
  assert.deepEqual(readChanges(root, '').changed, []);
  writeFileSync(join(root, 'docs/guide.md'), 'committed');
  commit('Guide');
  writeFileSync(join(root, 'scripts/test.ts'), 'not committed');
  writeFileSync(join(root, 'docs/new.md'), 'new');
  rmSync(join(root, 'e2e/browser.ts'));
  const changed = ['docs/guide.md', 'docs/new.md', 'e2e/browser.ts', 'scripts/test.ts'];
  assert.deepEqual(readChanges(root, '').changed, changed);
  assert.deepEqual(readChanges(root, 'HEAD').changed, changed.slice(1));
  assert.ok(readChanges(root, '').files.includes('docs/new.md'));
  assert.throws(() => readChanges(root, 'no-such'), /no-such/);
});
