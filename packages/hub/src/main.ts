import { createHub, type Hub } from './app.ts';
import { findUnknownSettings, readConfig, type SettingName, settings } from './config.ts';
import { StartError } from './db/data-directory.ts';
import { giveBackStartMemory } from './start-memory.ts';

/** How long a stop may take before what is left is cut off. */
const STOP_MS_MAX = 30_000;
/** Signals this close together are one. */
const SAME_SIGNAL_MS = 1_000;

export interface StartOptions {
  /** `--port 5000` and the like: one flag for each setting. */
  argv?: readonly string[];
  /** The built console. */
  consoleDir?: string;
}

/**
 * Starts a hub from flags and environment, prints where it is, and runs until SIGTERM or SIGINT.
 * Resolves once it answers.
 *
 * @throws SettingError, StartError, NewerDatabaseError: one sentence each.
 */
export async function startFromEnvironment(options: StartOptions = {}): Promise<void> {
  const config = readConfig(process.env, readFlags(options.argv ?? []));
  for (const name of findUnknownSettings(process.env)) {
    process.stderr.write(`signalbox: ${name} is not a setting; it is ignored.\n`);
  }
  const { consoleDir } = options;
  const hub = await createHub({ config, ...(consoleDir === undefined ? {} : { consoleDir }) });
  const { firstOwnerUrl } = await hub.listen().catch(async (error: unknown) => {
    await hub.stop();
    throw explainListenError(error, config.host, config.port);
  });
  stopOnSignal(hub);
  giveBackStartMemory();
  process.stdout.write(describeStart(hub.baseUrl, firstOwnerUrl, config.devAllowUnauth));
}

function describeStart(baseUrl: string, firstOwnerUrl: string | null, open: boolean): string {
  const lines = [`Signalbox listens on ${baseUrl}`];
  if (firstOwnerUrl !== null) {
    lines.push(
      '',
      'Nobody is here yet. This link makes the first owner, once:',
      `  ${firstOwnerUrl}`,
    );
  }
  if (open) {
    lines.push('', 'SVC_DEV_ALLOW_UNAUTH is true: requests without a token may do anything.');
  }
  return `${lines.join('\n')}\n`;
}

/** @throws StartError for a flag that is none. */
export function readFlags(argv: readonly string[]): Partial<Record<SettingName, string>> {
  const flags: Partial<Record<SettingName, string>> = {};
  for (let at = 0; at < argv.length; at++) {
    const [flag = '', inline] = (argv[at] ?? '').split(/=(.*)/s, 2);
    const name = (Object.keys(settings) as SettingName[]).find(
      (known) => `--${settings[known].flag}` === flag,
    );
    if (name === undefined) {
      const known = Object.values(settings).map((setting) => `--${setting.flag}`);
      throw new StartError(`${flag} is not a flag; there are ${known.join(', ')}.`);
    }
    const value = inline ?? argv[++at];
    if (value === undefined) throw new StartError(`${flag} takes a value.`);
    flags[name] = value;
  }
  return flags;
}

function explainListenError(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StartError(
        `Port ${port} on ${host} is in use: stop what listens there, or set SVC_PORT to another port.`,
      );
    case 'EACCES':
      return new StartError(
        `This user may not listen on port ${port}: set SVC_PORT to a port above 1023.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StartError(`SVC_HOST is "${host}", which is no address of this machine.`);
    default:
      return error;
  }
}

/** The first signal stops gracefully; a second one, or the time limit, at once. */
function stopOnSignal(hub: Hub): void {
  let stoppingSinceMs: number | null = null;
  const stop = (signal: NodeJS.Signals) => {
    if (stoppingSinceMs !== null) {
      // One Ctrl-C arrives twice when npm stands between: from the terminal and from npm.
      if (performance.now() - stoppingSinceMs < SAME_SIGNAL_MS) return;
      process.exit(1);
    }
    stoppingSinceMs = performance.now();
    process.stderr.write(`signalbox: ${signal} received, finishing what is under way.\n`);
    const limit = setTimeout(() => {
      process.stderr.write('signalbox: some requests did not end within 30 s and were cut off.\n');
      process.exit(1);
    }, STOP_MS_MAX);
    limit.unref();
    hub.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`signalbox: the stop failed: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
