import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { commandName, globalInstallLine } from '../src/command-name.ts';
import { helpOf } from '../src/index.ts';
import { launcherFile, makePlace, type Place } from './harness.ts';

let place: Place;
before(() => {
  place = makePlace();
});
after(async () => await place.end());

const packageDir = join(import.meta.dirname, '..');

/** A folder with a file `signalbox` that leads to the launcher, or to something else. */
function makeBin(name: string, target: string = launcherFile): string {
  const folder = join(place.directory, name);
  mkdirSync(folder, { recursive: true });
  symlinkSync(target, join(folder, 'signalbox'));
  return folder;
}

describe('hints show a command that works where they are printed', () => {
  test('signalbox, if the shell finds this one first', () => {
    const [ours, foreign] = [makeBin('ours'), makeBin('foreign', process.execPath)];
    const nameWith = (...folders: string[]) =>
      commandName({ env: { PATH: folders.join(delimiter) }, cwd: place.directory });
    assert.equal(nameWith('', '/nowhere', ours, foreign), 'signalbox');
    assert.equal(nameWith(foreign, ours), launcherFile);
  });

  test('npx signalbox, below a folder in which npm has installed it', () => {
    makeBin('project/node_modules/.bin');
    const inside = join(place.directory, 'project/src/deep');
    // npx puts this folder on the PATH of its own processes only.
    const env = { PATH: join(place.directory, 'project/node_modules/.bin') };
    assert.equal(commandName({ env, cwd: inside }), 'npx signalbox');
    makeBin('other/node_modules/.bin', process.execPath);
    assert.equal(commandName({ env, cwd: join(place.directory, 'other') }), launcherFile);
  });

  test('npx with the name of the package, when npx has fetched it', async () => {
    const fetched = join(place.directory, '_npx/0a1b/cli/src');
    cpSync(join(packageDir, 'src/command-name.ts'), join(fetched, 'command-name.ts'));
    const module = await import(pathToFileURL(join(fetched, 'command-name.ts')).href);
    const name = module.commandName({ env: {}, cwd: place.directory });
    assert.equal(name, 'npx @signalbox/cli');
  });

  test('the path of the launcher elsewhere, short in the home directory', () => {
    const env = { HOME: dirname(packageDir) };
    assert.equal(commandName({ env, cwd: '/' }), '~/cli/bin/signalbox.mjs');
    const { stderr } = spawnSync(process.execPath, [launcherFile, 'whoami'], {
      encoding: 'utf8',
      cwd: place.directory,
      env: { ...place.env, PATH: dirname(process.execPath) },
    });
    assert.ok(stderr.includes(`${launcherFile} login --workspace SLUG`), stderr);
  });

  test('also in the examples of --help', () => {
    const env = { ...place.env, PATH: '' };
    const { stdout } = spawnSync(process.execPath, [launcherFile, 'jobs', '--help'], {
      encoding: 'utf8',
      cwd: packageDir,
      env,
    });
    assert.match(stdout, /^Usage: signalbox jobs/);
    assert.match(stdout, /^ {2}npx signalbox jobs --status /m);
  });

  test('but not in the documentation, which is for every machine', async () => {
    assert.match(await helpOf(['jobs']), /^ {2}signalbox jobs --status /m);
  });
});

describe('the line of npm start that installs the command for all folders', () => {
  test('works, and the command then runs anywhere and names itself signalbox', () => {
    const prefix = join(place.directory, 'prefix');
    const bin = join(prefix, 'bin');
    const env = {
      ...place.env,
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      npm_config_prefix: prefix,
      npm_config_global_prefix: prefix,
      npm_config_update_notifier: 'false',
      npm_config_offline: 'true',
    };
    const line = globalInstallLine(env);
    assert.equal(line, `npm install --global ${realpathSync(packageDir)}`);
    execFileSync('sh', ['-c', line], { cwd: place.directory, env, stdio: 'pipe' });
    const run = (...args: string[]) =>
      spawnSync('signalbox', args, { cwd: place.directory, env, encoding: 'utf8' });
    assert.match(run('--version').stdout, /^\d+\.\d+\.\d+\n$/);
    assert.match(run('whoami').stderr, /Fix {3}signalbox login --workspace SLUG/);
    assert.equal(globalInstallLine(env), null);
  });

  test('installs for this user alone where npm may not write', () => {
    // Not even root can write below a file.
    const env = { PATH: '/bin', HOME: '/home/ada', npm_config_global_prefix: '/dev/null' };
    const own = `npm install --global --prefix ~/.local ${packageDir}`;
    assert.equal(globalInstallLine(env), `${own} && export PATH="$HOME/.local/bin:$PATH"`);
    assert.equal(globalInstallLine({ ...env, PATH: '/bin:/home/ada/.local/bin' }), own);
  });
});
