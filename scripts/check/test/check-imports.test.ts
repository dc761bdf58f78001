import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { checkImports } from '../check-imports.ts';

/** Writes the files into a new folder and returns the findings. */
function check(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-imports-'));
  try {
    for (const [path, content] of Object.entries({ ...manifests, ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    return checkImports(root).map(({ file, line, message }) => `${file}:${line} ${message}`);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const workspace = { '@signalbox/contract': '1', '@signalbox/sdk': '1', '@signalbox/agent': '1' };
const manifests = {
  'package.json': JSON.stringify({ devDependencies: { 'fast-check': '1' } }),
  'packages/contract/package.json': JSON.stringify({ dependencies: { typebox: '1', ajv: '1' } }),
  'packages/sdk/package.json': JSON.stringify({ dependencies: workspace }),
  'packages/agent/package.json': JSON.stringify({
    dependencies: workspace,
    exports: { '.': './src/index.ts', './job-tools': './src/job-tools.ts' },
  }),
  'packages/console/package.json': JSON.stringify({ dependencies: workspace }),
  'packages/hub/package.json': JSON.stringify({ dependencies: { ...workspace, fastify: '1' } }),
  'packages/cli/package.json': JSON.stringify({
    dependencies: { ...workspace, '@signalbox/hub': '1' },
  }),
};

/** The targets of the rows below, so that only the row's own import is judged. */
const hub = 'packages/hub/src';
const hubFiles = Object.fromEntries(
  [
    'index app main admin config errors http/server db/engine cluster/link',
    'db/sqlite/sqlite-database db/sqlite/log',
    'queue/claim loops/sweeper jobs/claim jobs/mail/reader runs/upsert',
  ]
    .join(' ')
    .split(' ')
    .map((name) => [`${hub}/${name}.ts`, 'export type A = string;\nexport const a = 1;\n']),
);

/** From, to, and whether a value and a type may be imported. */
const hubTable: readonly (readonly [from: string, to: string, value: boolean, type: boolean])[] = [
  ['http/server', 'config', true, true],
  ['http/server', 'errors', true, true],
  ['http/server', 'jobs/claim', false, false],
  ['http/server', 'db/engine', false, true],
  ['db/engine', 'config', true, true],
  ['db/engine', 'db/sqlite/sqlite-database', true, true],
  ['db/engine', 'db/sqlite/log', false, false],
  ['db/sqlite/sqlite-database', 'db/sqlite/log', true, true],
  ['cluster/link', 'db/sqlite/log', false, false],
  ['db/engine', 'cluster/link', false, true],
  ['db/engine', 'jobs/claim', false, false],
  ['db/engine', 'http/server', false, true],
  ['cluster/link', 'db/engine', true, true],
  ['cluster/link', 'queue/claim', false, true],
  ['cluster/link', 'jobs/claim', false, false],
  ['queue/claim', 'db/engine', true, true],
  ['queue/claim', 'config', false, true],
  ['queue/claim', 'jobs/claim', false, false],
  ['jobs/claim', 'db/engine', true, true],
  ['jobs/claim', 'http/server', true, true],
  ['jobs/claim', 'queue/claim', true, true],
  ['jobs/claim', 'runs/upsert', true, true],
  ['jobs/claim', 'jobs/mail/reader', true, true],
  ['jobs/claim', 'config', false, true],
  ['jobs/claim', 'cluster/link', false, true],
  ['jobs/claim', 'loops/sweeper', false, true],
  ['jobs/mail/reader', 'jobs/claim', true, true],
  ['loops/sweeper', 'jobs/claim', true, true],
  ['loops/sweeper', 'queue/claim', true, true],
  ['loops/sweeper', 'cluster/link', true, true],
  ['loops/sweeper', 'http/server', false, true],
  ['loops/sweeper', 'app', false, true],
  ['errors', 'db/engine', false, true],
  ['errors', 'http/server', false, true],
  ['config', 'errors', true, true],
  ['config', 'jobs/claim', false, false],
  ['app', 'jobs/claim', true, true],
  ['app', 'db/engine', true, true],
  ['main', 'app', true, true],
  ['admin', 'runs/upsert', true, true],
  ['jobs/claim', 'admin', false, true],
  ['index', 'main', true, true],
  ['index', 'jobs/claim', true, true],
  ['app', 'index', false, false],
];

for (const [from, to, value, type] of hubTable) {
  test(`in the hub, ${from} ${value ? 'imports' : 'does not import'} ${to}`, () => {
    const up = '../'.repeat(from.split('/').length - 1) || './';
    const file = `${hub}/${from}.ts`;
    const valueImport = check({ ...hubFiles, [file]: `import { a } from '${up}${to}.ts';\n` });
    const typeImport = check({ ...hubFiles, [file]: `import type { A } from '${up}${to}.ts';\n` });
    assert.equal(valueImport.length, value ? 0 : 1, valueImport.join('\n'));
    assert.equal(typeImport.length, type ? 0 : 1, typeImport.join('\n'));
    for (const finding of [...valueImport, ...typeImport]) {
      assert.ok(finding.startsWith(`${file}:1 `), finding);
    }
  });
}

/** File, content and finding (empty: the import is allowed). */
const packageTable: readonly (readonly [file: string, source: string, finding: string])[] = [
  ['packages/contract/src/a.ts', "import { Type } from 'typebox';", ''],
  ['packages/contract/src/a.ts', "import { createHash } from 'node:crypto';", 'node: modules'],
  ['packages/contract/src/a.ts', "import { createHash } from 'crypto';", 'write node:crypto'],
  ['packages/contract/src/a.ts', "import Ajv from 'ajv';", 'imports typebox only'],
  ['packages/contract/src/a.ts', "import '@signalbox/sdk';", 'contract does not import sdk'],
  ['packages/contract/test/a.test.ts', "import test from 'node:test';", ''],
  ['packages/contract/test/a.test.ts', "import fc from 'fast-check';", ''],
  ['packages/contract/src/a.ts', "import fc from 'fast-check';", 'imports typebox only'],
  ['packages/sdk/src/a.ts', "import '@signalbox/contract';", ''],
  ['packages/sdk/src/a.ts', "import '@signalbox/agent';", 'sdk does not import agent'],
  ['packages/sdk/src/a.ts', "import 'undici';", 'undici is not in package.json'],
  ['packages/sdk/src/a.ts', "import '@signalbox/contract/src/ids.ts';", 'deep import'],
  ['packages/cli/src/commands/agent/a.ts', "import '@signalbox/agent/job-tools';", ''],
  ['packages/cli/src/commands/a.ts', "import '@signalbox/agent/job-tools';", 'only from src'],
  ['packages/cli/src/commands/agent/a.ts', "import '@signalbox/agent/other';", 'deep import'],
  ['packages/sdk/src/a.ts', "import '../../contract/src/b.ts';", 'deep import'],
  ['packages/sdk/src/a.ts', "import '@signalbox/sdk';", 'import each other by path'],
  ['packages/sdk/src/a.ts', "import './gone.ts';", './gone.ts does not exist'],
  ['packages/sdk/src/a.ts', "import '../test/b.ts';", 'nothing outside src'],
  ['packages/sdk/src/a.ts', "import '../../../scripts/b.ts';", 'nothing outside its folder'],
  ['packages/agent/src/a.ts', "import '@signalbox/sdk';", ''],
  ['packages/agent/src/a.ts', "import '@signalbox/hub';", 'agent does not import hub'],
  ['packages/agent/test/a.test.ts', "import '@signalbox/hub';", ''],
  ['packages/console/src/a.tsx', "import { x } from '@signalbox/sdk'; x(<p/>);", ''],
  ['packages/console/src/a.tsx', "import 'node:fs';", 'node: modules'],
  ['packages/console/src/a.tsx', "import '@signalbox/hub';", 'console does not import hub'],
  ['packages/console/src/a.tsx', "import 'virtual:contract-data';", ''],
  ['packages/sdk/src/a.ts', "import 'virtual:contract-data';", 'is not in package.json'],
  ['packages/hub/src/http/a.ts', "import 'fastify';", ''],
  ['packages/hub/src/http/a.ts', "import '@signalbox/sdk';", 'hub does not import sdk'],
  ['packages/cli/src/commands/agent/start-agent.ts', "import '@signalbox/agent';", ''],
  ['packages/cli/src/commands/login.ts', "import '@signalbox/agent';", 'agent only from'],
  ['packages/cli/src/commands/hub/serve.ts', "await import('@signalbox/hub');", ''],
  ['packages/cli/src/commands/hub/admin-token.ts', "import '@signalbox/hub';", ''],
  ['packages/cli/src/main.ts', "import '@signalbox/hub';", 'hub only from'],
  ['packages/cli/src/main.ts', "await import('@signalbox/hub');", 'hub only from'],
  ['packages/cli/src/main.ts', "type A = import('@signalbox/hub').A;", 'hub only from'],
  ['packages/cli/src/main.ts', "export * from '@signalbox/hub';", 'hub only from'],
  ['packages/cli/src/main.ts', "export type { A } from '@signalbox/hub';", 'hub only from'],
  ['packages/cli/src/main.ts', "// import '@signalbox/hub';\nconst a = `import 'x'`;", ''],
  ['packages/extra/src/a.ts', "import '@signalbox/sdk';", 'has no row'],
  ['e2e/a.test.ts', "import '@signalbox/hub';", ''],
  ['e2e/a.test.ts', "import '../packages/hub/src/b.ts';", 'deep import'],
];

const targets = {
  'packages/contract/src/b.ts': '',
  'packages/hub/src/b.ts': '',
  'packages/sdk/test/b.ts': '',
  'scripts/b.ts': '',
};

for (const [file, source, expected] of packageTable) {
  test(`${file} with ${source} is ${expected === '' ? 'allowed' : 'rejected'}`, () => {
    const findings = check({ ...targets, [file]: source });
    assert.equal(findings.length, expected === '' ? 0 : 1, findings.join('\n'));
    assert.ok(findings.every((finding) => finding.startsWith(`${file}:1 `)));
    assert.ok(
      findings.every((finding) => finding.includes(expected)),
      findings.join('\n'),
    );
  });
}

test('a cycle of files is reported once, as a shortest cycle, including type imports', () => {
  const findings = check({
    'packages/sdk/src/a.ts': "\nimport './b.ts';\n",
    'packages/sdk/src/b.ts': "import type { C } from './c.ts';\nimport './d.ts';\n",
    'packages/sdk/src/c.ts': "export { a } from './a.ts';\n",
    'packages/sdk/src/d.ts': "import './c.ts';\n",
  });
  const way = ['a', 'b', 'c', 'a'].map((name) => `packages/sdk/src/${name}.ts`).join(' → ');
  assert.deepEqual(findings, [`packages/sdk/src/a.ts:2 cycle: ${way}`]);
});

test('a file that imports itself and a separate cycle are two findings', () => {
  const findings = check({
    'packages/sdk/src/a.ts': "import './a.ts';\n",
    'packages/sdk/src/b.ts': "import './a.ts';\nimport './c.ts';\n",
    'packages/sdk/src/c.ts': "import './b.ts';\n",
  });
  assert.equal(findings.length, 2);
});

test('the line number of an import is correct in a file with non-ASCII text', () => {
  const source = `// ünïcödé 🚦\n\nexport async function load() {\n  return import('ajv');\n}\n`;
  const findings = check({ 'packages/sdk/src/a.ts': source });
  assert.deepEqual(findings, ['packages/sdk/src/a.ts:4 ajv is not in package.json']);
});

test('a tree without sources is a finding, not a pass', () => {
  assert.deepEqual(check({}), ['packages:1 no source files found']);
});

/** Edges between hub modules, and the reported cycles (empty: they form a DAG). */
const cycleTable: readonly (readonly [edges: string, cycles: string])[] = [
  ['archive>teams teams>things archive>things', ''],
  ['teams>things things>teams', 'teams>things things>teams'],
  ['archive>teams teams>things things>crews crews>teams', 'crews>teams teams>things things>crews'],
];

for (const [edges, cycles] of cycleTable) {
  test(`modules that import as ${edges} ${cycles === '' ? 'pass' : 'are rejected'}`, () => {
    const sources: Record<string, string> = {};
    for (const edge of edges.split(' ')) {
      const [from = '', to = ''] = edge.split('>');
      // Each import has its own files, so that no file cycle is reported as well.
      sources[`${hub}/${from}/use-${to}.ts`] = `import { a } from '../${to}/read.ts';\n`;
      sources[`${hub}/${to}/read.ts`] = 'export const a = 1;\n';
    }
    const found = check(sources).map((finding) =>
      finding.replace(/.*cycle of modules: (\S+) and (\S+) use.*/, '$1>$2'),
    );
    assert.deepEqual(found, cycles === '' ? [] : cycles.split(' '));
  });
}

test('a cycle of modules through types only is allowed', () => {
  const found = check({
    [`${hub}/teams/a.ts`]: "import { a } from '../things/a.ts';\n",
    [`${hub}/things/b.ts`]: "import type { A } from '../teams/b.ts';\n",
    [`${hub}/things/a.ts`]: 'export const a = 1;\n',
    [`${hub}/teams/b.ts`]: 'export type A = string;\n',
  });
  assert.deepEqual(found, []);
});

/** File, source and the table that it may not name (empty: allowed). */
const tableUses: readonly (readonly [file: string, source: string, table: string])[] = [
  ['runs/store.ts', "const sql = 'SELECT * FROM runs WHERE run_id = ?';", ''],
  ['runs/store.ts', "const sql = 'SELECT * FROM runs r JOIN jobs j ON true';", 'jobs'],
  ['runs/store.ts', `const sql = \`UPDATE \${mark} SET a = 1\`;`, ''],
  ['runs/store.ts', `const sql = \`DELETE FROM tokens\n  WHERE \${rule}\`;`, 'tokens'],
  ['runs/store.ts', 'const sql = `INSERT INTO tokens (a) VALUES (?)`;', 'tokens'],
  ['runs/store.ts', "export const q = build.selectFrom('people as p');", 'people'],
  ['runs/store.ts', "export const text = 'The jobs come FROM somewhere.';", ''],
  ['db/migrations/0001.ts', "const sql = 'UPDATE jobs SET a = 1';", ''],
  ['loops/sweeper.ts', "const sql = 'DELETE FROM sessions';", 'sessions'],
];

for (const [file, source, table] of tableUses) {
  test(`in ${file}, ${source.slice(0, 60)} ${table === '' ? 'is allowed' : 'is rejected'}`, () => {
    const found = check({ [`${hub}/${file}`]: source });
    const expected = table === '' ? [] : [table];
    assert.deepEqual(
      found.map((finding) => /the table (\w+) belongs/.exec(finding)?.[1] ?? finding),
      expected,
    );
  });
}
