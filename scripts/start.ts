// `npm start`: builds the console if it is outdated, then starts the hub in this process. For a
// person at a terminal, or with the path of a clone, it does what `signalbox up` does.
import { AssertionError } from 'node:assert';
import { enableCompileCache } from 'node:module';
import { join, resolve } from 'node:path';
import { buildConsole } from './build/console-build.ts';

const root = join(import.meta.dirname, '..');

// The cache is stored with the packages that it belongs to. The hub is imported after enabling it,
// so that a second start neither strips types nor compiles.
enableCompileCache(join(root, 'node_modules/.cache/signalbox'));

const usage = `Usage: npm start [clone] -- [flags]

Starts a hub, and first builds the console if it is outdated. Ctrl-C stops it.
At a terminal, or with the path of a clone, it is signalbox up: it prints a link
that signs you in, and an agent works on the clone.

`;

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`signalbox: ${describeRefusal(error)}\n`);
  process.exitCode = 1;
}

async function main(argv: readonly string[]): Promise<void> {
  if (argv.some((flag) => flag === '--help' || flag === '-h')) {
    const { describeFlags } = await import('@signalbox/hub');
    process.stdout.write(usage + describeFlags());
    return;
  }
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const consoleDir = await buildConsole(root, say);
  const [first] = argv;
  const path = first === undefined || first.startsWith('-') ? null : first;
  const flags = path === null ? argv : argv.slice(1);
  if (path !== null || (await isForPerson(flags))) {
    const { upFromCheckout } = await import('@signalbox/cli');
    // npm runs scripts in the folder of the project.
    const clone = path === null ? null : resolve(process.env.INIT_CWD ?? '.', path);
    await upFromCheckout({ argv: flags, path: clone, consoleDir });
    return;
  }
  const { startFromEnvironment } = await import('@signalbox/hub');
  await startFromEnvironment({ argv: flags, ...(consoleDir === undefined ? {} : { consoleDir }) });
  const { globalInstallLine } = await import('@signalbox/cli');
  const line = globalInstallLine(process.env);
  if (line !== null) process.stdout.write(`\nTo use signalbox in any folder:  ${line}\n`);
}

/** Whether a person starts a hub for this machine: at a terminal, without settings of a server. */
async function isForPerson(flags: readonly string[]): Promise<boolean> {
  const { stdin, stdout, env } = process;
  if (!stdin.isTTY || !stdout.isTTY || env.CI) return false;
  const { isLoopback, readConfig, readFlags } = await import('@signalbox/hub');
  const { host, baseUrl, databaseUrl, devAllowUnauth } = readConfig(env, readFlags(flags));
  return isLoopback(host) && baseUrl === null && databaseUrl === null && !devAllowUnauth;
}

/** An expected failure (bad setting, port in use, …) is a sentence; a bug keeps its stack. */
function describeRefusal(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const bugs = [TypeError, ReferenceError, RangeError, SyntaxError, AssertionError];
  return bugs.some((bug) => error instanceof bug) ? (error.stack ?? error.message) : error.message;
}
