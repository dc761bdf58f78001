// Each rule of `npm run check` finds what it forbids, and lets pass what is beside it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { checkDocPaths } from '../check-doc-paths.ts';
import { checkHouse } from '../check-house.ts';
import { checkImports, type Finding } from '../check-imports.ts';
import { checkWords } from '../check-words.ts';

/** Writes the files into a new folder and returns the findings. */
function check(
  rule: (root: string) => Finding[],
  files: Readonly<Record<string, string>>,
): string[] {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-check-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    return rule(root).map(({ file, line, message }) => `${file}:${line} ${message}`);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Asserts that there is one finding with the words, in this line; none for empty words. */
function assertFinding(found: readonly string[], place: string, words: string): void {
  assert.equal(found.length, words === '' ? 0 : 1, `${place}: ${found.join('\n')}`);
  if (words === '') return;
  const [finding = ''] = found;
  assert.ok(finding.startsWith(`${place} `) && finding.includes(words), finding);
}

const hub = 'packages/hub/src';
const hubNames =
  'index start/app start/main start/config start/hub-deps base/errors http/server db/engine ' +
  'db/sqlite/sqlite-database db/sqlite/log cluster/link queue/claim loops/sweeper jobs/claim ' +
  'jobs/mail/reader runs/upsert';
const hubFiles = Object.fromEntries(
  hubNames
    .split(' ')
    .map((name) => [`${hub}/${name}.ts`, 'export type A = string;\nexport const a = 1;\n']),
);

/** From, to, and whether a value and a type may be imported. */
const layers: readonly (readonly [from: string, to: string, value: boolean, type: boolean])[] = [
  ['http/server', 'base/errors', true, true],
  ['http/server', 'jobs/claim', false, false],
  ['db/engine', 'db/sqlite/sqlite-database', true, true],
  ['db/engine', 'db/sqlite/log', false, false],
  ['db/engine', 'cluster/link', false, true],
  ['cluster/link', 'db/engine', true, true],
  ['cluster/link', 'jobs/claim', false, false],
  ['queue/claim', 'start/config', false, true],
  ['queue/claim', 'start/hub-deps', false, false],
  ['queue/claim', 'jobs/claim', false, false],
  ['jobs/claim', 'queue/claim', true, true],
  ['jobs/claim', 'runs/upsert', true, true],
  ['jobs/mail/reader', 'jobs/claim', true, true],
  ['jobs/claim', 'loops/sweeper', false, true],
  ['loops/sweeper', 'jobs/claim', true, true],
  ['jobs/claim', 'start/hub-deps', true, true],
  ['start/hub-deps', 'jobs/claim', false, true],
  ['base/errors', 'db/engine', false, true],
  ['base/errors', 'jobs/claim', false, false],
  ['start/config', 'jobs/claim', false, false],
  ['start/main', 'start/app', true, true],
  ['index', 'jobs/claim', true, true],
  ['start/app', 'index', false, false],
];

test('a file of the hub imports lower layers only, and types as far as it may see them', () => {
  for (const [from, to, ...allowed] of layers) {
    const up = '../'.repeat(from.split('/').length - 1) || './';
    const file = `${hub}/${from}.ts`;
    for (const [at, name] of ['{ a }', 'type { A }'].entries()) {
      const source = `import ${name} from '${up}${to}.ts';\n`;
      const found = check(checkImports, { ...hubFiles, [file]: source });
      assert.equal(found.length, allowed[at] ? 0 : 1, `${from} imports ${name} of ${to}: ${found}`);
      if (found.length > 0) assert.ok(found[0]?.startsWith(`${file}:1 `));
    }
  }
});

/** File, content and finding (empty: the import is allowed). */
const packages: readonly (readonly [file: string, source: string, finding: string])[] = [
  ['packages/contract/src/a.ts', "import { Type } from 'typebox';", ''],
  ['packages/contract/src/a.ts', "import { hash } from 'node:crypto';", 'node: modules'],
  ['packages/contract/src/a.ts', "import Ajv from 'ajv';", 'imports typebox only'],
  ['packages/contract/src/a.ts', "import '@signalbox/sdk';", 'contract does not import sdk'],
  ['packages/contract/test/a.test.ts', "import fc from 'fast-check';", ''],
  ['packages/sdk/src/a.ts', "import '@signalbox/contract';", ''],
  ['packages/cli/src/commands/agent/a.ts', "import '@signalbox/agent/job-tools';", ''],
  ['packages/cli/src/commands/a.ts', "import '@signalbox/agent/job-tools';", 'only from src'],
  ['packages/sdk/src/a.ts', "import '../../contract/src/b.ts';", 'deep import'],
  ['packages/sdk/src/a.ts', "import '@signalbox/sdk';", 'import each other by path'],
  ['packages/sdk/src/a.ts', "import '../test/b.ts';", 'nothing outside src'],
  ['packages/sdk/src/a.ts', "import '../../../scripts/b.ts';", 'nothing outside its folder'],
  ['packages/console/src/a.tsx', "import { x } from '@signalbox/sdk'; x(<p/>);", ''],
  ['packages/console/src/a.tsx', "import 'virtual:contract-data';", ''],
  ['packages/hub/src/http/a.ts', "import '@signalbox/sdk';", 'hub does not import sdk'],
  ['packages/cli/src/main.ts', "await import('@signalbox/hub');", 'hub only from'],
  ['packages/cli/src/main.ts', "type A = import('@signalbox/hub').A;", 'hub only from'],
  ['packages/cli/src/main.ts', "export * from '@signalbox/hub';", 'hub only from'],
  ['packages/cli/src/main.ts', "// import '@signalbox/hub';\nconst a = `import 'x'`;", ''],
  ['packages/extra/src/a.ts', "import '@signalbox/sdk';", 'has no row'],
  ['e2e/a.test.ts', "import '../packages/hub/src/b.ts';", 'deep import'],
  ['packages/hub/src/runs/store.ts', "const sql = 'SELECT a FROM runs';", ''],
  ['packages/hub/src/runs/store.ts', "const sql = 'SELECT a FROM runs JOIN jobs';", 'table jobs'],
  ['packages/hub/src/runs/store.ts', `const sql = \`DELETE FROM tokens \${a}\`;`, 'table tokens'],
  ['packages/hub/src/runs/store.ts', "insertRow(tx, 'people', row);", 'table people'],
  ['packages/hub/src/runs/store.ts', "const text = 'They come FROM somewhere.';", ''],
  ['packages/hub/src/db/migrations/0001.ts', "const sql = 'UPDATE jobs SET a = 1';", ''],
];
const targets = {
  'packages/contract/src/b.ts': '',
  'packages/hub/src/b.ts': '',
  'packages/sdk/test/b.ts': '',
  'scripts/b.ts': '',
};

test('a package imports what its row of the table allows, and a module names its own tables', () => {
  for (const [file, source, expected] of packages) {
    const found = check(checkImports, { ...targets, [file]: source });
    assertFinding(found, `${file}:1`, expected);
  }
  const source = `// ünïcödé 🚦\n\nexport const load = () => import('ajv');\n`;
  const found = check(checkImports, { 'packages/contract/src/a.ts': source });
  assertFinding(found, 'packages/contract/src/a.ts:3', 'imports typebox only');
  assertFinding(check(checkImports, {}), 'packages:1', 'no source files found');
});

/** Edges between hub modules, and the reported cycles (empty: they form a DAG). */
const cycles: readonly (readonly [edges: string, cycles: string])[] = [
  ['archive>teams teams>things archive>things', ''],
  ['teams>things things>teams', 'teams>things things>teams'],
  ['archive>teams teams>things things>crews crews>teams', 'crews>teams teams>things things>crews'],
];

test('modules of the hub form a directed acyclic graph; types do not count', () => {
  for (const [edges, expected] of cycles) {
    for (const [name, isValue] of [
      ['{ a }', true],
      ['type { A }', false],
    ] as const) {
      const sources: Record<string, string> = {};
      for (const edge of edges.split(' ')) {
        const [from = '', to = ''] = edge.split('>');
        sources[`${hub}/${from}/use-${to}.ts`] = `import ${name} from '../${to}/read.ts';\n`;
        sources[`${hub}/${to}/read.ts`] = 'export const a = 1;\nexport type A = 1;\n';
      }
      const found = check(checkImports, sources).map((finding) =>
        finding.replace(/.*cycle of modules: (\S+) and (\S+) use.*/, '$1>$2'),
      );
      assert.equal(found.join(' '), isValue ? expected : '', edges);
    }
  }
});

const source = 'packages/hub/src/a.ts';
const words = 'word '.repeat(30);
/** File, text, and a part of the finding (empty: allowed). */
const lines: readonly (readonly [file: string, text: string, finding: string])[] = [
  ['packages/hub/src/tokens/service-principal.ts', '', ''],
  ['packages/hub/src/jobs/job-service.ts', '', '"service" in a name'],
  ['packages/hub/src/utils/time.ts', '', '"utils" in a name'],
  ['packages/hub/src/jobs/store.test.ts', '', 'tests must be in test/'],
  ['packages/hub/test/store.spec.ts', '', 'must end in .test.ts'],
  ['e2e/main-job.test.ts', '', ''],
  ['packages/hub/dist/utils.ts', '', ''],
  [source, `//${'-'.repeat(49)} ${'-'.repeat(48)}`, ''],
  [source, `//${'-'.repeat(49)} ${'-'.repeat(49)}`, 'the limit is 100'],
  [source, `f('${'--- '.repeat(28)}---');`, 'the limit is 120'],
  [source, `// see https://a/${'b'.repeat(100)}`, ''],
  ['packages/console/src/a.tsx', `<p className="${words}" />;`, ''],
  [source, '  ...{ jobId, kind },', 'has its own line'],
  [source, '  ...(kind && { kind }),', ''],
  [source, "sql('SELECT * FROM jobs')", 'must name its columns'],
  [source, '  `SELECT 1, j.* FROM jobs j`', 'must name its columns'],
  [source, '  WHERE job_id = ? RETURNING *`', 'must name its columns'],
  [source, "sql('SELECT COUNT(*) FROM jobs')", ''],
  ['packages/hub/test/a.ts', "sql('SELECT * FROM jobs')", ''],
  [source, `// ${'TO'}DO: later`, 'requires an issue number'],
  [source, `// ${'TO'}DO(#12): later`, ''],
];

test('names of files, long lines, statements and promises are held to the house style', () => {
  for (const [file, text, expected] of lines) {
    assertFinding(check(checkHouse, { [file]: text }), `${file}:1`, expected);
  }
});

/** A document, its text, and the path that is reported (empty: all exist). */
const paths: readonly (readonly [file: string, text: string, missing: string])[] = [
  ['docs/page.md', 'See `jobs/claim.ts` and `packages/hub/src/jobs/claim.ts`.', ''],
  ['docs/page.md', 'See `claim.ts`. Files end in `-sqlite.test.ts`.', ''],
  ['docs/page.md', 'See `jobs/claim-actions.ts`.', 'jobs/claim-actions.ts'],
  ['README.md', 'See `complete.ts`.', 'complete.ts'],
  ['docs/decisions/0001-a.md', 'It was in `complete.ts`.', ''],
];

test('files that documents name exist', () => {
  for (const [file, text, missing] of paths) {
    const found = check(checkDocPaths, { [`${hub}/jobs/claim.ts`]: '', [file]: text });
    assertFinding(found, `${file}:1`, missing);
  }
});

/** A line of source, and whether it is refused. */
const retired: readonly (readonly [text: string, isRefused: boolean])[] = [
  ['// No agent holds the job.', false],
  ['// What happens if the reply is lost?', false],
  ['  title: "Whatever it takes",', true],
  ["test('the work goes on', () => {", true],
  [' * What a claim returns.', true],
  ['// A person and her token.', true],
  ['// Higher than another; there and elsewhere.', false],
];

test('retired words are found in comments, strings and names of tests', () => {
  for (const [text, isRefused] of retired) {
    assert.equal(checkWords('a.ts', text).length, isRefused ? 1 : 0, text);
  }
  const [finding] = checkWords('a.ts', '// fine\n// anew');
  assert.deepEqual(finding, { file: 'a.ts', line: 2, message: '"anew" is retired: again' });
});
