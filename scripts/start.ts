// `npm start`: builds the console if it is outdated, then starts the hub in this process.
import { AssertionError } from 'node:assert';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { buildConsole } from './build/console-build.ts';

const root = join(import.meta.dirname, '..');

// The cache is stored with the packages that it belongs to. The hub is imported after enabling it,
// so that a second start neither strips types nor compiles.
enableCompileCache(join(root, 'node_modules/.cache/signalbox'));

const usage = `Usage: npm start -- [flags]

Starts a hub, and first builds the console if it is outdated. Ctrl-C stops it.

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
  const { startFromEnvironment } = await import('@signalbox/hub');
  await startFromEnvironment({ argv, ...(consoleDir === undefined ? {} : { consoleDir }) });
  const { globalInstallLine } = await import('@signalbox/cli');
  const line = globalInstallLine(process.env);
  if (line !== null) process.stdout.write(`\nTo use signalbox in any folder:  ${line}\n`);
}

/** An expected failure (bad setting, port in use, …) is a sentence; a bug keeps its stack. */
function describeRefusal(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const bugs = [TypeError, ReferenceError, RangeError, SyntaxError, AssertionError];
  return bugs.some((bug) => error instanceof bug) ? (error.stack ?? error.message) : error.message;
}
