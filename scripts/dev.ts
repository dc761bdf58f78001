// `npm run dev`: a hub that restarts when its sources change, and a console that reloads in the
// browser. Flags go to the hub, as with `npm start`. Ctrl-C ends both.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const consolePort = process.env.SIGNALBOX_DEV_CONSOLE_PORT ?? '5173';
const consoleUrl = `http://127.0.0.1:${consolePort}`;

const usage = `Usage: npm run dev -- [flags of the hub]

Starts a hub that restarts when its sources change, on --port (default 4400), and the console on
${consoleUrl}, which reloads in the browser. npm start -- --help lists the flags.
SIGNALBOX_DEV_CONSOLE_PORT changes the port of the console.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(usage);
    return 0;
  }
  const { values } = parseArgs({
    args: argv,
    options: { port: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  const port = typeof values.port === 'string' ? values.port : (process.env.SVC_PORT ?? '4400');
  const hub = start(
    [
      '--watch',
      '--watch-preserve-output',
      join(root, 'packages/cli/src/main.ts'),
      'serve',
      ...argv,
    ],
    root,
    // People open the console's address: the hub's links must lead there. Changed sources must not
    // migrate the hub that a developer works with.
    { SVC_BASE_URL: consoleUrl, SVC_DATA_DIR: process.env.SVC_DATA_DIR ?? '.signalbox/dev' },
  );
  const vite = start(
    [
      join(root, 'node_modules/vite/bin/vite.js'),
      '--port',
      consolePort,
      '--strictPort',
      '--host',
      '127.0.0.1',
      '--clearScreen',
      'false',
    ],
    join(root, 'packages/console'),
    { SIGNALBOX_DEV_HUB: `http://127.0.0.1:${port}` },
  );
  return waitForEnd([hub, vite]);
}

function start(args: string[], cwd: string, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
}

/** Ends the other process when one ends. A signal ends both, and is no failure. */
async function waitForEnd(children: readonly ChildProcess[]): Promise<number> {
  let isInterrupted = false;
  const endAll = () => {
    for (const child of children) child.kill('SIGTERM');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      isInterrupted = true;
      endAll();
    });
  }
  const exits = children.map((child) => once(child, 'exit'));
  const [code] = (await Promise.race(exits)) as [number | null];
  endAll();
  await Promise.all(exits);
  return isInterrupted ? 0 : (code ?? 1);
}
