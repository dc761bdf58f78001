import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type ProgramError, runProgram } from '../../process/run-program.ts';
import { packageOf, testedTools } from '../tested-tools.ts';

/** A package of npm through which a coding tool speaks the Agent Client Protocol. */
export interface AcpAdapter {
  /** The command that the person must have: the adapter runs it, and brings no tool itself. */
  tool: string;
  /** The package in the version that was tested. */
  package: string;
  /** Its program, below `node_modules`. */
  program: string;
  /** About what it takes on the disk, without its optional packages: they repeat the tool. */
  sizeMb: number;
}

const adapterOf = (
  tool: 'claude' | 'codex',
  name: 'claude-agent-acp' | 'codex-acp',
  sizeMb: number,
) => ({
  tool,
  sizeMb,
  package: packageOf(name),
  program: `${testedTools[name].package}/dist/index.js`,
});

/** By the name of the tool. Other tools speak the protocol themselves. */
export const acpAdapters: Readonly<Record<string, AcpAdapter>> = {
  claude: adapterOf('claude', 'claude-agent-acp', 78),
  codex: adapterOf('codex', 'codex-acp', 22),
};

/** Where an adapter is installed. Its version is part of the path. */
export function adapterFolder(adapter: AcpAdapter, adaptersDir: string): string {
  return join(adaptersDir, adapter.package.slice(adapter.package.indexOf('/') + 1));
}

/** The program of an installed adapter; null if it is not installed. */
export function findAdapter(name: string, adaptersDir: string | undefined): string | null {
  const adapter = acpAdapters[name];
  if (adapter === undefined || adaptersDir === undefined) return null;
  const program = join(adapterFolder(adapter, adaptersDir), 'node_modules', adapter.program);
  return existsSync(program) ? program : null;
}

/** The adapter could not be installed. The message is npm's reason. */
export class AdapterInstallError extends Error {
  override name = 'AdapterInstallError';
}

/** The slowest download that is waited for. */
const INSTALL_MS_MAX = 10 * 60_000;
/** npm would otherwise try an unreachable registry for minutes. */
const installFlags = [
  ...['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-package-lock'],
  ...['--loglevel=error', '--fetch-retries=1', '--fetch-timeout=60000'],
];
const REASON_CHARS_MAX = 300;

/**
 * Installs an adapter with the person's npm and its registry, without any script of the packages.
 * It is there complete or not at all.
 *
 * @throws {AdapterInstallError}
 */
export async function installAdapter(
  adapter: AcpAdapter,
  adaptersDir: string,
  { env, signal }: { env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<void> {
  const npm = await findNpm(env);
  if (npm === null) throw new AdapterInstallError('npm is not on the PATH.');
  const folder = adapterFolder(adapter, adaptersDir);
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.draft-`);
  try {
    const args = ['install', '--prefix', draft, ...installFlags, adapter.package];
    await runNpm([npm, ...args], { cwd: draft, env: withoutProject(env), signal });
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      // Another agent was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function runNpm(
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<void> {
  try {
    await runProgram(process.execPath, args, { ...options, limitMs: INSTALL_MS_MAX });
  } catch (error) {
    const { stderr, message } = error as ProgramError;
    const lines = stderr.split('\n').map((line) => line.replace(/^npm (error|ERR!)\s*/, ''));
    const [reason] = lines.filter((line) => line !== '' && !/^(code|errno|syscall) /.test(line));
    throw new AdapterInstallError((reason ?? message).slice(0, REASON_CHARS_MAX));
  }
}

/** The script of npm, so that the Node of this process runs it: others may be too old for it. */
async function findNpm(env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const directory of (env.PATH ?? '').split(delimiter)) {
    const file = join(directory, 'npm');
    if (directory === '' || !existsSync(file)) continue;
    const script = await realpath(file);
    if (script.endsWith('npm-cli.js')) return script;
  }
  return null;
}

/** Without the variables that `npx` and `npm run` set about the project that they run in. */
function withoutProject(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOfProject = (name: string) =>
    /^npm_(package|lifecycle|config_(local_)?prefix)/i.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOfProject(name)));
}
