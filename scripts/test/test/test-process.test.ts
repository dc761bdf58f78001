import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { FileReport } from '../file-log.ts';
import { TestProcess } from '../test-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-test-file-'));
after(() => rmSync(folder, { recursive: true }));

const enoughMs = 60_000;
/** For files that hang on purpose; long enough for Node to start on a busy machine. */
const hangMs = 10_000;
let fileCount = 0;

function plant(source: string): string {
  fileCount += 1;
  const file = `planted-${fileCount}.test.ts`;
  const imports = "import { describe, test } from 'node:test';\n";
  writeFileSync(join(folder, file), imports + source);
  return file;
}

/** Runs a file in a process of its own. */
async function run(
  source: string,
  limitMs = enoughMs,
  options?: { endsAtFailure: boolean },
): Promise<FileReport & { trouble: string }> {
  const process = new TestProcess(folder, undefined, options);
  const report = await process.run(plant(source), limitMs);
  return { ...report, trouble: await process.end() };
}

function outcomes(report: FileReport): string[] {
  return report.results.map(({ name, outcome, detail }) => {
    return `${outcome} ${name}${detail === '' ? '' : ` | ${detail.split('\n')[0]}`}`;
  });
}

test('passes, failures, skips and todos are counted with full names and reasons', async () => {
  const report = await run(`
    test('adds', () => {});
    describe('a suite', () => {
      test('inside', () => {});
      test('breaks', () => { throw new Error('planted failure'); });
      test('is skipped', { skip: 'no chromium here' }, () => {});
      test('is late', (t) => t.skip('only on Linux'));
      test('is silent', { skip: true }, () => {});
    });
    test('outer', async (t) => {
      await t.test('inner breaks', () => { throw new Error('inner failure'); });
    });
    test('is to be done', { todo: 'issue 7' }, () => { throw new Error('known'); });
    describe.skip('a suite away', () => { test('never', () => {}); });
  `);
  assert.deepEqual(outcomes(report), [
    'passed adds',
    'passed a suite › inside',
    'failed a suite › breaks | Error: planted failure',
    'skipped a suite › is skipped | no chromium here',
    'skipped a suite › is late | only on Linux',
    'skipped a suite › is silent | no reason given',
    'failed outer › inner breaks | Error: inner failure',
    'todo is to be done | issue 7',
    'skipped a suite away | no reason given',
  ]);
});

test('where the first failure is enough, it ends the file', async () => {
  const source = `
    test('breaks', () => { throw new Error('planted failure'); });
    test('hangs', () => new Promise(() => setInterval(() => {}, 1_000)));
  `;
  const report = await run(source, enoughMs, { endsAtFailure: true });
  assert.deepEqual(outcomes(report), ['failed breaks | Error: planted failure']);
  assert.equal(report.trouble, '');
});

test('a failure of a hook is a failure', async () => {
  const report = await run(`
    import { after } from 'node:test';
    describe('a suite', () => {
      after(() => { throw new Error('planted in a hook'); });
      test('inside', () => {});
    });
  `);
  assert.ok(outcomes(report).includes('failed a suite | Error: planted in a hook'));
});

// At once, because each of them waits for its whole limit.
describe('a file that hangs', { concurrency: true }, () => {
  test('a test that hangs is ended at the limit, with its name', async () => {
    const report = await run(
      `
    test('is quick', () => {});
    describe('a suite', () => {
      test('hangs', () => new Promise(() => setInterval(() => {}, 1_000)));
    });
  `,
      hangMs,
    );
    assert.deepEqual(outcomes(report), [
      'passed is quick',
      'failed (the file) | ended after 10 s without a result; still running: a suite, hangs',
    ]);
    assert.equal(report.trouble, '');
  });

  test('a file that never closes what it opened fails, and says what', async () => {
    const report = await run(`
    import { createServer } from 'node:net';
    test('listens', (t, done) => { createServer().listen(0, '127.0.0.1', done); });
  `);
    assert.deepEqual(outcomes(report), [
      'passed listens',
      'failed (the file) | its tests are over, but something it opened was never closed: TCPServerWrap',
    ]);
  });

  test('a file that ignores SIGTERM is ended at the limit all the same', async () => {
    const report = await run(
      `
    process.on('SIGTERM', () => {});
    test('hangs', () => new Promise(() => setInterval(() => {}, 1_000)));
  `,
      hangMs,
    );
    assert.match(outcomes(report).join('\n'), /still running: hangs/);
  });
});

test('a test that exits the process is a failure of the file', async () => {
  const report = await run(`
    test('leaves', () => process.exit(0));
    test('is never reached', () => {});
  `);
  assert.deepEqual(outcomes(report), [
    'failed (the file) | the process ended before the tests did: with code 0',
  ]);
});

test('a file that does not load is a failure with its error', async () => {
  const [failure, ...others] = (await run(`import './missing.ts';`)).results;
  assert.deepEqual(others, []);
  assert.equal(failure?.name, '(the file)');
  assert.match(failure?.detail ?? '', /Cannot find module .*missing\.ts/);
});

test('a file without a test is a failure', async () => {
  assert.deepEqual(outcomes(await run('')), ['failed (the file) | contains no test']);
});

const linuxOnly = process.platform === 'linux' ? false : 'processes are found through /proc';

test('what a file leaves running is ended, in its group or not', { skip: linuxOnly }, async () => {
  const idsPath = join(folder, 'ids');
  const report = await run(`
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    test('forgets its children', () => {
      const idle = ['-e', 'setInterval(() => {}, 1000)'];
      const inGroup = spawn(process.execPath, idle, { stdio: 'inherit' });
      const outside = spawn(process.execPath, idle, { stdio: 'ignore', detached: true });
      for (const child of [inGroup, outside]) child.unref();
      writeFileSync(${JSON.stringify(idsPath)}, JSON.stringify([inGroup.pid, outside.pid]));
    });
  `);
  assert.deepEqual(outcomes(report), ['passed forgets its children']);
  for (const id of JSON.parse(readFileSync(idsPath, 'utf8')) as number[]) {
    // A process that was killed ends when the kernel next runs it.
    const endMs = performance.now() + 10_000;
    while (isAlive(id) && performance.now() < endMs) await wait(10);
    assert.ok(!isAlive(id));
  }
});

function isAlive(processId: number): boolean {
  try {
    // A dead process stays listed until the process that inherited it collects it.
    return !readFileSync(`/proc/${processId}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

test('an error after the tests is a failure of the file', async () => {
  const report = await run(`
    test('is quick', () => { setTimeout(() => { throw new Error('planted late'); }, 10); });
  `);
  assert.deepEqual(outcomes(report), [
    'passed is quick',
    'failed (the file) | Error: planted late',
  ]);
  assert.equal(report.trouble, '');
});

test('an uncaught error fails a file at once, with the test that was running', async () => {
  const throwing = {
    'planted in a timer': "setTimeout(() => { throw new Error('planted in a timer'); });",
    'planted in a promise': "void (async () => { throw new Error('planted in a promise'); })();",
  };
  for (const [message, statement] of Object.entries(throwing)) {
    const [failure, ...others] = (
      await run(`
        test('waits', () => new Promise(() => { setInterval(() => {}, 1_000); ${statement} }));
        test('is never reached', () => {});
      `)
    ).results;
    assert.deepEqual(others, []);
    assert.equal(failure?.outcome, 'failed');
    assert.match(failure.detail, new RegExp(`${message}[^]*still running: waits$`));
  }
});

test('node:test follows promises while a file loads, and not while its tests run', async () => {
  const report = await run(`
    import assert from 'node:assert';
    import { getTestContext } from 'node:test';
    await new Promise(setImmediate);
    assert.ok(getTestContext());
    test('is not followed', async () => {
      await new Promise(setImmediate);
      assert.equal(getTestContext(), undefined);
    });
  `);
  assert.deepEqual(outcomes(report), ['passed is not followed']);
});

test('what cleanups of tests refer to is collected while the process lives', async () => {
  const report = await run(`
    import assert from 'node:assert';
    const refs = [];
    test('each with a cleanup', async (t) => {
      for (let number = 0; number < 5; number += 1) {
        await t.test('keeps a thing', (t) => {
          const thing = { number, isOpen: true };
          t.after((_, done) => { thing.isOpen = false; setImmediate(done); });
          t.after(() => assert.ok(!thing.isOpen));
          refs.push(new WeakRef(thing));
        });
      }
    });
    test('collects', async () => {
      const { setFlagsFromString } = await import('node:v8');
      const { runInNewContext } = await import('node:vm');
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc');
      do {
        // A look at a thing keeps it for the rest of the turn.
        await new Promise(setImmediate);
        collect();
      } while (refs.some((ref) => ref.deref() !== undefined));
    });
  `);
  assert.deepEqual(outcomes(report).slice(-2), ['passed each with a cleanup', 'passed collects']);
});

test('files that share a process have their own hooks, names and output', async (t) => {
  const process = new TestProcess(folder);
  t.after(() => process.end());
  const source = (name: string) => `
    import { after, before, beforeEach } from 'node:test';
    before(() => console.log('before ${name}'));
    beforeEach(() => console.log('before each of ${name}'));
    after(() => console.log('after ${name}'));
    test('the test of ${name}', () => {});
    describe('the suite of ${name}', () => { test('inside', () => {}); });
  `;
  for (const name of ['one', 'two']) {
    const report = await process.run(plant(source(name)), enoughMs);
    assert.deepEqual(outcomes(report), [
      `passed the test of ${name}`,
      `passed the suite of ${name} › inside`,
    ]);
    const each = `before each of ${name}`;
    assert.deepEqual(report.output.split('\n'), [`before ${name}`, each, each, `after ${name}`]);
  }
  assert.ok(process.isUsable);
  assert.equal(await process.end(), '');
});

test('a process whose file has failed is not used again', async () => {
  const process = new TestProcess(folder);
  const report = await process.run(
    plant("test('breaks', () => { throw new Error(); });"),
    enoughMs,
  );
  assert.deepEqual(outcomes(report), ['failed breaks | Error']);
  assert.ok(!process.isUsable);
  assert.equal(await process.end(), '');
});

test('a file that changes the environment of its process for good fails', async () => {
  const report = await run(`
    test('turns it back', () => { process.env.A = '1'; delete process.env.A; });
    test('does not', () => { process.env.B = '1'; process.chdir('/'); });
  `);
  assert.deepEqual(outcomes(report).slice(2), [
    'failed (the file) | changes the environment variable B for good',
    'failed (the file) | changes the folder for good',
  ]);
});

test('a process that fails at its end says so', async () => {
  const report = await run(`
    process.once('beforeExit', () => { throw new Error('planted at the end'); });
    test('passes', () => {});
  `);
  assert.deepEqual(outcomes(report), ['passed passes']);
  assert.match(report.trouble, /exited with code \d+\n(.*\n)*.*planted at the end/);
});

test('the processor time of a file is that of its processes', { skip: linuxOnly }, async (t) => {
  const process = new TestProcess(folder);
  t.after(() => process.end());
  const busyMs = 500;
  const burn = `while (process.cpuUsage().user < ${busyMs * 1_000}) {}`;
  const busy = await process.run(
    plant(`
      import { spawnSync } from 'node:child_process';
      test('burns', () => { spawnSync(process.execPath, ['-e', ${JSON.stringify(burn)}]); });
    `),
    enoughMs,
  );
  const quiet = await process.run(plant("test('rests', () => {});"), enoughMs);
  assert.ok((busy.processorMs ?? 0) >= busyMs, `${busy.processorMs} ms`);
  assert.ok((quiet.processorMs ?? busyMs) < busyMs, `${quiet.processorMs} ms`);
});

test('settings of the hub do not reach the tests', async () => {
  process.env.SVC_PORT = '1';
  const report = await run(`
    import assert from 'node:assert';
    test('sees no port', () => assert.equal(process.env.SVC_PORT, undefined));
  `);
  delete process.env.SVC_PORT;
  assert.deepEqual(outcomes(report), ['passed sees no port']);
});
