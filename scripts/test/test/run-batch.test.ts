import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { FileReport } from '../file-report.ts';

const enoughMs = 60_000;
/** For files that hang on purpose; long enough for Node to start on a busy machine. */
const hangMs = 10_000;

/** Makes a project of files with these bodies. */
function makeFiles(t: TestContext, bodies: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-batch-'));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'tests'));
  const files = bodies.map((body, at) => {
    const file = `tests/${at}.test.ts`;
    writeFileSync(join(root, file), `import { describe, test } from 'node:test';\n${body}`);
    return file;
  });
  return { root, files };
}

/** In another process, because test runs do not nest. */
const { NODE_TEST_CONTEXT: _own, ...env } = process.env;

/** Runs files with these bodies in a batch. */
async function runFiles(t: TestContext, bodies: readonly string[], limitMs = enoughMs, place = '') {
  const { root, files } = makeFiles(t, bodies);
  const batch: object = place === '' ? { files } : { files, place: 'place.ts' };
  if (place !== '') writeFileSync(join(root, 'place.ts'), place);
  const call = `
    import { runBatch } from ${JSON.stringify(join(import.meta.dirname, '../run-batch.ts'))};
    const [root, batch, limitMs] = JSON.parse(process.argv[2]);
    await runBatch(root, batch, limitMs, (report) => console.log(JSON.stringify(report)));`;
  writeFileSync(join(root, 'call.mjs'), call);
  const args = [join(root, 'call.mjs'), JSON.stringify([root, batch, limitMs])];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const reports = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FileReport);
  return { root, reports, outcomes: reports.map(describeOutcomes) };
}

function describeOutcomes({ results }: FileReport): string[] {
  return results.map(({ name, outcome, detail }) => {
    return `${outcome} ${name}${detail === '' ? '' : ` | ${detail.split('\n')[0]}`}`;
  });
}

const hangs = "test('hangs', () => new Promise(() => setInterval(() => {}, 1_000)));";

/** It starts a process that leaves its group and has another environment. */
const startsAndHangs = `import { spawn } from 'node:child_process';
  import { renameSync, writeFileSync } from 'node:fs';
  process.on('SIGTERM', () => {});
  const idle = ['-e', 'setInterval(() => {}, 1000)'];
  const child = spawn(process.execPath, idle, { stdio: 'ignore', detached: true, env: {} });
  const file = import.meta.dirname + '/id';
  writeFileSync(file + '.new', String(child.pid));
  renameSync(file + '.new', file);
  describe('a suite', () => { ${hangs} });`;

function assertEnded(root: string): void {
  if (process.platform !== 'linux') return;
  // A dead process stays listed until the process that inherited it collects it.
  assert.match(readStat(readFileSync(join(root, 'tests/id'), 'utf8')), /^$|\) Z /);
}

describe('a batch', { concurrency: true }, () => {
  test('counts passes, failures, skips and todos with full names and reasons', async (t) => {
    const { outcomes } = await runFiles(t, [
      `import { after } from 'node:test';
      test('adds', () => {});
      describe('a suite', () => {
        after(() => { throw new Error('planted in a hook'); });
        test('breaks', () => { throw new Error('planted failure'); });
        test('is skipped', { skip: 'no chromium here' }, () => {});
        test('is silent', { skip: true }, () => {});
      });
      test('outer', async (t) => {
        await t.test('inner breaks', () => { throw new Error('inner failure'); });
      });
      test('is to be done', { todo: 'issue 7' }, () => { throw new Error('known'); });
      describe.skip('a suite away', () => { test('never', () => {}); });`,
    ]);
    assert.deepEqual(outcomes, [
      [
        'passed adds',
        'failed a suite › breaks | Error: planted failure',
        'skipped a suite › is skipped | no chromium here',
        'skipped a suite › is silent | no reason given',
        'failed a suite | Error: planted in a hook',
        'failed outer › inner breaks | Error: inner failure',
        'todo is to be done | issue 7',
        'skipped a suite away | no reason given',
      ],
    ]);
  });

  test('keeps the figures of each file, and no counts of node:test', async (t) => {
    const measure = "test('measures', (t) => t.diagnostic('NUMBER kills, 0 lost'));";
    const bodies = ['1', '2'].map((number) => measure.replace('NUMBER', number));
    const { reports } = await runFiles(t, bodies);
    assert.deepEqual(
      reports.map(({ figures }) => figures),
      [['1 kills, 0 lost'], ['2 kills, 0 lost']],
    );
  });

  test('runs its files in one process, each with its own hooks and output', async (t) => {
    const body = (name: string) => `
      import { after, before } from 'node:test';
      before(() => console.log('before ${name}'));
      after(() => console.error('after ${name}'));
      test('of ${name}', () => { throw new Error(String(process.pid)); });`;
    const place = "import { after } from 'node:test'; globalThis.isOpen = true; after(() => {});";
    const bodies = [body('one'), body('two'), "test('open', (t) => { if (!isOpen) throw 1; });"];
    const { reports, outcomes } = await runFiles(t, bodies, enoughMs, place);
    const [last, one, two] = reports;
    assert.deepEqual(outcomes[0], ['passed open']);
    assert.equal(last?.file, 'tests/2.test.ts');
    assert.equal(one?.output, 'before one\nafter one');
    assert.equal(two?.output, 'before two\nafter two');
    const idOf = (report?: FileReport) =>
      /Error: (\d+)/.exec(report?.results[0]?.detail ?? '')?.[1];
    assert.equal(idOf(one), idOf(two));
    assert.ok((one?.processorMs ?? 0) > 0);
  });

  test('ends a file that hangs, with what it started, and runs the next', async (t) => {
    const bodies = [startsAndHangs, "test('runs', () => {});"];
    const { root, outcomes } = await runFiles(t, bodies, hangMs);
    const [hung = [], next] = outcomes;
    assert.deepEqual(hung, [
      'failed (the file) | ended after 10 s without a result',
      'failed (the file) | the process ended before the tests did; running: a suite › hangs',
    ]);
    assert.deepEqual(next, ['passed runs']);
    assertEnded(root);
  });

  test('that is interrupted ends what it has started', async (t) => {
    const { root, files } = makeFiles(t, [startsAndHangs]);
    const call = `
      import { runTests } from ${JSON.stringify(join(import.meta.dirname, '../test-run.ts'))};
      const options = { engines: [], concurrency: 1 };
      await runTests(${JSON.stringify(root)}, ${JSON.stringify(files)}, options);`;
    writeFileSync(join(root, 'call.mjs'), call);
    const stdio = ['ignore', 'ignore', 'inherit'] as const;
    const run = spawn(process.execPath, [join(root, 'call.mjs')], { env, stdio: [...stdio] });
    t.after(() => run.kill('SIGKILL'));
    const folder = watch(join(root, 'tests'));
    while (!existsSync(join(root, 'tests/id'))) await once(folder, 'change');
    folder.close();
    run.kill('SIGTERM');
    assert.deepEqual(await once(run, 'exit'), [143, null]);
    assertEnded(root);
  });

  test('names what a file leaves behind', async (t) => {
    const { reports } = await runFiles(t, [
      `import { createServer } from 'node:net';
      test('listens', (t, done) => { createServer().listen(0, '127.0.0.1', done); });
      test('changes', () => { process.env.B = '1'; process.chdir('/'); });`,
      "test('turns it back', () => { process.env.A = '1'; delete process.env.A; });",
    ]);
    const trace = 'its tests are over, but something it opened was never closed: TCPServerWrap';
    const [other, first] = reports.map(describeOutcomes);
    assert.deepEqual(first, [
      'passed listens',
      'passed changes',
      `failed (the file) | Error: ${trace}`,
    ]);
    assert.deepEqual(other, ['passed turns it back']);
    const { detail } = reports[1]?.results[2] ?? {};
    assert.match(detail ?? '', /changes the environment variable B .*\n.*changes the folder/);
  });

  test('fails a file that does not load, has no test, or ends its process', async (t) => {
    const bodies = ["import './missing.ts';", '', "test('leaves', () => process.exit(0));"];
    const ends = await Promise.all(bodies.map((body) => runFiles(t, [body])));
    const lines = ends.flatMap(({ outcomes }) => outcomes.flat());
    assert.match(lines[0] ?? '', /^failed \(the file\) \| Error.*Cannot find module .*missing\.ts/);
    assert.deepEqual(lines.slice(1), [
      'failed (the file) | contains no test',
      'failed (the file) | the process ended before the tests did; running: no test',
    ]);
  });

  test('fails a file for an error that no code handles, in a test or after it', async (t) => {
    const late = "setTimeout(() => { throw new Error('planted'); }, 10);";
    const bodies = [`test('waits', () => new Promise(() => { ${late} }));`];
    bodies.push(`test('is over', () => { ${late} });`);
    const ends = await Promise.all(bodies.map((body) => runFiles(t, [body])));
    const [inside, after] = ends.map(({ outcomes }) => outcomes.flat().join('\n'));
    assert.equal(inside, 'failed waits | Error: planted');
    assert.match(after ?? '', /passed is over\nfailed.*(\n.*)*planted/);
  });
});

function readStat(id: string): string {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    return '';
  }
}
