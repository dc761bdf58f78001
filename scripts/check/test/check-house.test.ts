import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { checkHouse } from '../check-house.ts';

/** Writes one file into a new folder and returns the findings. */
function check(file: string, source = ''): string[] {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-house-'));
  try {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), source);
    return checkHouse(root).map((finding) => `${finding.line} ${finding.message}`);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const names: readonly (readonly [file: string, isRefused: boolean])[] = [
  ['packages/hub/src/jobs/store.ts', false],
  ['packages/hub/src/tokens/service-principal.ts', false],
  ['packages/hub/src/people/common-passwords.ts', false],
  ['packages/hub/src/people/common.ts', true],
  ['packages/hub/src/jobs/job-service.ts', true],
  ['packages/hub/src/utils/time.ts', true],
  ['packages/agent/src/worker.ts', true],
  ['packages/agent/src/network.ts', false],
  ['packages/console/src/JobList.tsx', true],
  ['packages/hub/src/jobs/store.test.ts', true],
  ['packages/hub/test/store.test.ts', false],
  ['packages/hub/test/store.spec.ts', true],
  ['e2e/main-job.test.ts', false],
  ['packages/hub/dist/utils.ts', false],
  ['packages/hub/node_modules/utils.ts', false],
];

for (const [file, isRefused] of names) {
  test(`the name ${file} is ${isRefused ? 'rejected' : 'allowed'}`, () => {
    assert.equal(check(file).length, isRefused ? 1 : 0);
  });
}

const source = 'packages/hub/src/a.ts';
const words = 'word '.repeat(30);

const lines: readonly (readonly [what: string, file: string, text: string, isRefused: boolean])[] =
  [
    ['of comment, 100 columns', source, `//${'-'.repeat(49)} ${'-'.repeat(48)}`, false],
    ['of comment, 101 columns', source, `//${'-'.repeat(49)} ${'-'.repeat(49)}`, true],
    ['in a block comment, 101 columns', source, ` * ${'-'.repeat(48)} ${'-'.repeat(49)}`, true],
    ['of code, 120 columns', source, `f('${'--- '.repeat(28)}--');`, false],
    ['of code, 121 columns', source, `f('${'--- '.repeat(28)}---');`, true],
    ['of prose', source, `// ${words}`, true],
    ['with a long string', source, `const a = '${words}';`, true],
    ['with an address', source, `// see https://a/${'b'.repeat(100)}`, false],
    ['with classes', 'packages/console/src/a.tsx', `<p className="${words}" />;`, false],
    ['of code', 'packages/console/src/a.tsx', `f(${'a, b, c, '.repeat(14)}d);`, true],
    ['of a statement of all columns', source, "sql('SELECT * FROM jobs')", true],
    ['of a statement of all columns of an alias', source, '  `SELECT 1, j.* FROM jobs j`', true],
    ['of a write that returns all columns', source, '  WHERE job_id = ? RETURNING *`', true],
    ['of a built query of all columns', source, "  .selectAll().where('a')", true],
    ['of a statement that counts', source, "sql('SELECT COUNT(*) FROM jobs')", false],
    ['of all columns in a test', 'packages/hub/test/a.ts', "sql('SELECT * FROM jobs')", false],
    ['that promises', source, `// ${'TO'}DO: later`, true],
    ['that promises an issue', source, `// ${'TO'}DO(#12): later`, false],
  ];

for (const [what, file, text, isRefused] of lines) {
  test(`a line ${what} in ${file} is ${isRefused ? 'rejected' : 'allowed'}`, () => {
    const findings = check(file, `\n${text}\n`);
    assert.equal(findings.length, isRefused ? 1 : 0);
    assert.ok(findings.every((finding) => finding.startsWith('2 ')));
  });
}

const marks: readonly (readonly [source: string, isRefused: boolean])[] = [
  ["test('a', () => {});", false],
  ["test.only('a', () => {});", true],
  ["describe.only('a', () => {});", true],
  ["test('a', { only: true }, () => {});", true],
  ["test.skip('a', () => {});", true],
  ["it.todo('a');", true],
  ["test('a', { skip: true }, () => {});", true],
  ["test('a', { skip: 'no browser here' }, () => {});", false],
  ["test('a', { skip: reason }, () => {});", false],
  ["test('a', { todo: true });", true],
  ["test('a', (t) => t.skip());", true],
  ["test('a', (t) => t.skip('no browser here'));", false],
  ["test('a', async (t) => { await t.test('b', { skip: true }, () => {}); });", true],
  ["// test.only('a')\nconst text = 'test.only()';", false],
  ['query.skip(10); list.only;', false],
];

for (const [source, isRefused] of marks) {
  test(`in a test file, ${source} is ${isRefused ? 'rejected' : 'allowed'}`, () => {
    assert.equal(check('packages/hub/test/a.test.ts', source).length, isRefused ? 1 : 0);
  });
}
