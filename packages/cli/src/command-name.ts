import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';

const packageDir = join(import.meta.dirname, '..');
/** The file that starts this command on any Node. */
export const launcherFile = join(packageDir, 'bin/signalbox.mjs');
const shim = process.platform === 'win32' ? 'signalbox.cmd' : 'signalbox';

/** Where a command was started: what decides how the next one can be typed. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  cwd: string;
}

let nameHere: string | undefined;

/** Replaces the name of this command in a hint by what works in this terminal and folder. */
export function asTyped(hint: string): string {
  // `signalbox` as a word of its own before another word: no path, no host name.
  return hint.replaceAll(/(?<![\w./@-])signalbox(?= )/g, () => {
    nameHere ??= commandName({ env: process.env, cwd: process.cwd() });
    return nameHere;
  });
}

/** Sets the name in hints, for texts that are not for this terminal, such as the documentation. */
export function nameInHints(name: string): void {
  nameHere = name;
}

/**
 * How this installation of the command is typed: `signalbox` if the shell finds it, `npx …` if npm
 * does, else the path of its launcher.
 */
export function commandName({ env, cwd }: Surroundings): string {
  if (isOnPath(env)) return 'signalbox';
  if (launcherFile.includes(`${sep}_npx${sep}`)) return 'npx @signalbox/cli';
  for (let folder = cwd, last = ''; folder !== last; folder = dirname(folder)) {
    const found = join(folder, 'node_modules/.bin', shim);
    if (existsSync(found)) {
      if (isOurs(found)) return 'npx signalbox';
      break;
    }
    last = folder;
  }
  return quoteForShell(launcherFile, env);
}

/**
 * The command that makes `signalbox` work in every folder, for a clone; null if it does already. It
 * needs no administrator: where npm may not write, it installs below `~/.local`.
 *
 * npm links the folder and copies nothing, so the command is always that of the clone.
 */
export function globalInstallLine(env: NodeJS.ProcessEnv): string | null {
  if (isOnPath(env)) return null;
  const install = `npm install --global ${quoteForShell(packageDir, env)}`;
  const prefix = env.npm_config_global_prefix;
  if (prefix === undefined || process.platform === 'win32' || isWritable(prefix)) return install;
  const own = install.replace('--global', '--global --prefix ~/.local');
  const ownBin = join(env.HOME ?? '', '.local/bin');
  const isFound = (env.PATH ?? '').split(delimiter).includes(ownBin);
  return isFound ? own : `${own} && export PATH="$HOME/.local/bin:$PATH"`;
}

/** Whether the first `signalbox` on the PATH is this one. npx puts folders there for itself. */
function isOnPath(env: NodeJS.ProcessEnv): boolean {
  return findOnPath(env) !== null;
}

function findOnPath(env: NodeJS.ProcessEnv): string | null {
  const found = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !folder.endsWith(join('node_modules', '.bin')))
    .map((folder) => join(folder, shim))
    .find((path) => existsSync(path));
  return found !== undefined && isOurs(found) ? found : null;
}

/**
 * The program that starts this command, by a path that stays the same when the package is replaced:
 * the link on the PATH or in `node_modules/.bin`, else the launcher of a clone. Null if npx keeps
 * the package for a while only.
 */
export function findLauncher(env: NodeJS.ProcessEnv): string | null {
  const found = findOnPath(env);
  if (found !== null) return found;
  if (launcherFile.includes(`${sep}_npx${sep}`)) return null;
  const modules = launcherFile.lastIndexOf(`${sep}node_modules${sep}`);
  if (modules === -1) return launcherFile;
  const link = join(launcherFile.slice(0, modules), 'node_modules', '.bin', shim);
  return existsSync(link) ? link : launcherFile;
}

/** npm links commands, except on Windows, where it writes scripts that call them. */
function isOurs(path: string): boolean {
  if (process.platform === 'win32') return true;
  return realpathSync(path).startsWith(realpathSync(packageDir) + sep);
}

/** Whether npm may install there: its folder of packages or, if missing, the one above it. */
function isWritable(prefix: string): boolean {
  let folder = join(prefix, 'lib/node_modules');
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

function quoteForShell(path: string, env: NodeJS.ProcessEnv): string {
  if (!/^[\w@%+=:,./\\-]+$/.test(path)) return `'${path.replaceAll("'", "'\\''")}'`;
  const home = env.HOME;
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
