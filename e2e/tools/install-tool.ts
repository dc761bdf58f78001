import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type ToolEntry, type ToolName, tools } from './tool-table.ts';

/** A tool on this machine. */
export interface InstalledTool {
  readonly name: ToolName;
  readonly version: string;
  /** A directory with nothing but the tool's command, for the PATH. */
  readonly bin: string;
  /** The command in `bin`. */
  readonly command: string;
}

/** The slowest download that is waited for. */
const INSTALL_MS_MAX = 240_000;
const run = promisify(execFile);

/** Outside the project, so that all its checkouts on a machine share what they have downloaded. */
export function cacheDirectory(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'signalbox', 'coding-tools');
}

function placeOf(
  name: ToolName,
  version: string = tools[name].version,
): InstalledTool & { path: string } {
  const { command } = tools[name];
  const path = join(cacheDirectory(), `${name}-${version}-${process.platform}-${process.arch}`);
  const bin = join(path, 'bin');
  return { name, version, path, bin, command: join(bin, command) };
}

/** The tool, if it has been installed on this machine. */
export function findTool(name: ToolName): InstalledTool | null {
  const place = placeOf(name);
  return existsSync(place.command) ? place : null;
}

/**
 * Why tests of a tool are skipped; false when it is installed. A plain `npm test` downloads no
 * tools; `npm run e2e -- tools` and CI install them first.
 */
export function toolMissing(...names: readonly ToolName[]): string | false {
  const missing = names.filter((name) => findTool(name) === null);
  if (missing.length === 0) return false;
  return `not installed: ${missing.join(', ')}; run: npm run coding-tools -- ${missing.join(' ')}`;
}

/**
 * The tool that a test needs.
 * @throws when it is not installed; tests ask `toolMissing` first.
 */
export function needTool(name: ToolName): InstalledTool {
  const found = findTool(name);
  if (found === null) throw new Error(`${toolMissing(name)}`);
  return found;
}

/**
 * Installs a tool from npm in an exact version, with the Node that runs this and without any
 * script of the packages. It appears in the cache complete or not at all; a second installation at
 * the same time does no harm.
 *
 * @returns the tool, and whether it was installed just now.
 */
export async function installTool(
  name: ToolName,
  version: string = tools[name].version,
): Promise<{ tool: InstalledTool; isNew: boolean }> {
  const place = placeOf(name, version);
  if (existsSync(place.command)) return { tool: place, isNew: false };
  const entry: ToolEntry = { ...tools[name], version };
  await mkdir(dirname(place.path), { recursive: true });
  const draft = await mkdtemp(`${place.path}.draft-`);
  try {
    await installPackage(entry, draft);
    await makeCommand(entry, draft);
    await rename(draft, place.path).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return { tool: place, isNew: true };
}

/** The newest version of a package, as npm has it. */
export async function newestOf(npmPackage: string): Promise<string> {
  const { stdout } = await runNpm(['view', npmPackage, 'version'], dirname(import.meta.dirname));
  return stdout.trim();
}

async function installPackage(entry: ToolEntry, folder: string): Promise<void> {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel'];
  const kinds = entry.optional ? '--include=optional' : '--omit=optional';
  const spec = `${entry.package}@${entry.version}`;
  const args = ['install', '--prefix', folder, ...flags, 'error', kinds, spec];
  await runNpm(args, folder);
}

async function runNpm(args: readonly string[], cwd: string): Promise<{ stdout: string }> {
  return await run(process.execPath, [await findNpm(), ...args], {
    cwd,
    timeout: INSTALL_MS_MAX,
    killSignal: 'SIGKILL',
    // Variables of the npm that started this process are about the project.
    env: Object.fromEntries(
      Object.entries(process.env).filter(
        ([key]) => !/^npm_(config_prefix|package|life)/i.test(key),
      ),
    ),
  });
}

async function makeCommand(entry: ToolEntry, folder: string): Promise<void> {
  const program = join('node_modules', entry.program);
  if (!existsSync(join(folder, program))) {
    throw new Error(`${entry.package}@${entry.version} has no ${entry.program} for this platform.`);
  }
  const command = join(folder, 'bin', entry.command);
  await mkdir(dirname(command));
  if (entry.runs === 'native') {
    await chmod(join(folder, program), 0o755);
    return await symlink(join('..', program), command);
  }
  // The Node of the PATH, which the scenarios set (`tool-place.ts`): the cache outlives a checkout.
  const script = `#!/bin/sh\nexec node "$(dirname "$(readlink -f "$0")")/../${program}" "$@"\n`;
  await writeFile(command, script, { mode: 0o755 });
}

/** npm's own script, so that the project's Node runs it and not another one on the PATH. */
async function findNpm(): Promise<string> {
  const running = process.env.npm_execpath;
  if (running?.endsWith('npm-cli.js')) return running;
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(directory, 'npm');
    if (!existsSync(file)) continue;
    const script = await realpath(file);
    if (script.endsWith('npm-cli.js')) return script;
  }
  throw new Error('npm is not on the PATH.');
}
