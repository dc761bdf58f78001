import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { DATABASE_FILE, StartError } from '../db/data-directory.ts';
import type { Migration } from '../db/migrations/index.ts';
import { findDamageBesideHub } from '../diagnosis/damage-check.ts';
import { createHub, type Hub } from './app.ts';
import {
  type Config,
  findUnknownSettings,
  readConfig,
  type SettingName,
  settings,
} from './config.ts';
import { refuseOldDataDir } from './hub-place.ts';
import { isLoopback } from './setting-values.ts';

/** How long a stop may take before the remaining requests are aborted. */
const STOP_MS_MAX = 30_000;
/** Signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;
/** How long the answers to refused requests may take when the disk has failed. */
const DISK_FAILURE_MS_MAX = 2_000;

export interface StartOptions {
  /** The arguments, such as `--port 5000`: one flag for each setting. */
  argv?: readonly string[];
  /** The built console. */
  consoleDir?: string;
  /** Those of another version of Signalbox, in tests. */
  migrations?: readonly Migration[];
}

/**
 * Starts a hub from flags and environment, prints its address, and runs until SIGTERM or SIGINT.
 * Resolves as soon as the hub accepts requests.
 *
 * @throws SettingError, StartError, SchemaVersionError: one sentence each.
 */
export async function startFromEnvironment(options: StartOptions = {}): Promise<void> {
  const { argv = [], ...rest } = options;
  const config = readConfig(process.env, readFlags(argv));
  for (const name of findUnknownSettings(process.env)) {
    process.stderr.write(`signalbox: ${name} is not a setting and is ignored.\n`);
  }
  let started: Hub | null = null;
  stopOnSignal(() => started);
  const { hub, firstOwnerUrl } = await startHub(config, rest);
  started = hub;
  process.stdout.write(describeStart(hub.baseUrl, firstOwnerUrl, config));
}

/**
 * Starts a hub in this process, which the caller ends. Resolves as soon as it accepts requests.
 *
 * @returns also the one-time link for the first owner; null if the hub has people.
 * @throws StartError, SchemaVersionError: one sentence each.
 */
export async function startHub(
  config: Config,
  { consoleDir, migrations }: Omit<StartOptions, 'argv'> = {},
): Promise<{ hub: Hub; firstOwnerUrl: string | null }> {
  refuseOldDataDir(config);
  let created: Hub | null = null;
  const explain = (error: unknown) => {
    throw explainListenError(error, config.host, config.port);
  };
  const hub = await createHub({
    config,
    onWait: (text) => process.stderr.write(`signalbox: ${text}\n`),
    onDiskFailure: (error) => endAfterDiskFailure(error, () => created),
    onDatabaseRestored: () => endAfterRestore(() => created),
    ...(consoleDir === undefined ? {} : { consoleDir }),
    ...(migrations === undefined ? {} : { migrations }),
  }).catch(explain);
  created = hub;
  const { firstOwnerUrl } = await hub.listen().catch(async (error: unknown) => {
    await hub.stop();
    return explain(error);
  });
  if (config.databaseUrl === null) reportDamage(join(config.dataDir, DATABASE_FILE));
  return { hub, firstOwnerUrl };
}

/** Says that the database is damaged, if it is. The hub continues: much of it may be readable. */
function reportDamage(path: string): void {
  void findDamageBesideHub(path)
    .then((damage) =>
      damage === null
        ? null
        : `the database ${path} is damaged (${damage}). Stop the hub, check the disk, and restore ` +
          'a backup with `signalbox restore`.',
    )
    .catch((error: Error) => `the database could not be checked: ${error.message}`)
    .then((text) => {
      if (text !== null) process.stderr.write(`signalbox: ${text}\n`);
    });
}

function describeStart(
  baseUrl: string,
  firstOwnerUrl: string | null,
  { host, dataDir, devAllowUnauth }: Pick<Config, 'host' | 'dataDir' | 'devAllowUnauth'>,
): string {
  const lines = [`Signalbox listens on ${baseUrl}`, `Its data are in ${resolve(dataDir)}`];
  if (!isLoopback(host) && !baseUrl.startsWith('https:')) {
    lines.push(
      '',
      'Warning: other machines can reach this hub over plain HTTP, which anyone between can read.',
      'Put a proxy with TLS in front of it, and set SVC_BASE_URL to its https:// address.',
    );
  }
  if (firstOwnerUrl !== null) {
    lines.push(
      '',
      'No accounts yet. Open this one-time link to create the first owner:',
      `  ${firstOwnerUrl}`,
    );
  }
  if (devAllowUnauth) {
    lines.push('', 'SVC_DEV_ALLOW_UNAUTH is true: requests without a token may do anything.');
  }
  return `${lines.join('\n')}\n`;
}

/** Lists the flags of a start, one per setting, for a terminal of 80 columns. */
export function describeFlags(): string {
  const rows = Object.values(settings).map(({ flag, env, default: value, description }) => {
    const meaning = value === '' ? description : `${description} Default: ${value}.`;
    return `  --${flag} VALUE\n${wrapText(`${env}: ${meaning}`, 74, '      ')}`;
  });
  return ['Flags, each also an environment variable:', '', ...rows, ''].join('\n');
}

function wrapText(text: string, width: number, margin: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => margin + line).join('\n');
}

/** @throws StartError for an unknown flag, or one without its value. */
export function readFlags(argv: readonly string[]): Partial<Record<SettingName, string>> {
  const flags: Partial<Record<SettingName, string>> = {};
  for (let at = 0; at < argv.length; at++) {
    const [flag = '', inline] = (argv[at] ?? '').split(/=(.*)/s, 2);
    const name = (Object.keys(settings) as SettingName[]).find(
      (known) => `--${settings[known].flag}` === flag,
    );
    if (name === undefined) {
      const known = Object.values(settings).map((setting) => `--${setting.flag}`);
      throw new StartError(`${flag} is not a flag. The flags are --help, ${known.join(', ')}.`);
    }
    const value = inline ?? argv[++at];
    if (value === undefined) throw new StartError(`${flag} must have a value.`);
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
      return new StartError(`SVC_HOST is "${host}": it must be an address of this machine.`);
    default:
      return error;
  }
}

/**
 * Ends the process without closing SQLite, so that the next start reads the log by its checksums.
 * @param hub returns null while the hub is being created.
 */
function endAfterDiskFailure(error: Error, hub: () => Hub | null): void {
  process.stderr.write(
    `signalbox: the disk failed to keep the database's log (${error.message}). The hub ends now; ` +
      'check the disk, then start the hub again.\n',
  );
  // `exit` closes no connection of SQLite; a natural end would.
  setTimeout(() => process.exit(1), DISK_FAILURE_MS_MAX);
  // Refusals that were handed over in this turn of the event loop are sent first.
  setImmediate(() => {
    const closed = hub()?.server.close() ?? Promise.resolve();
    closed.then(
      () => process.exit(1),
      () => process.exit(1),
    );
  });
}

/** The next start says what to do. @param hub returns null while the hub is being created. */
function endAfterRestore(hub: () => Hub | null): void {
  process.stderr.write('signalbox: the database was restored while the hub ran. The hub ends.\n');
  exitAfter(hub()?.stop() ?? Promise.resolve(), 1);
}

/** Ends the process after a stop, or after the time limit. */
function exitAfter(stopped: Promise<void>, code: number): void {
  const limit = setTimeout(() => {
    process.stderr.write('signalbox: some requests did not end within 30 s and were aborted.\n');
    process.exit(1);
  }, STOP_MS_MAX);
  limit.unref();
  stopped.then(
    () => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`signalbox: the stop failed: ${String(error)}\n`);
      process.exit(1);
    },
  );
}

/**
 * Stops gracefully on the first signal; at once on a second one or after the time limit.
 * @param startedHub returns null while the hub starts: a signal then ends the process at once, also
 *   where signals have no default effect, as for the first process of a container.
 */
function stopOnSignal(startedHub: () => Hub | null): void {
  let stoppingSinceMs: number | null = null;
  const stop = (signal: NodeJS.Signals) => {
    const hub = startedHub();
    if (hub === null) process.exit(128 + constants.signals[signal]);
    if (stoppingSinceMs !== null) {
      // Under npm, one Ctrl-C arrives twice: from the terminal and from npm.
      if (performance.now() - stoppingSinceMs < SAME_SIGNAL_MS) return;
      process.exit(1);
    }
    stoppingSinceMs = performance.now();
    process.stderr.write(`signalbox: ${signal} received, finishing running requests.\n`);
    // Ctrl-C is for a person who waits; a supervisor sends SIGTERM.
    const drained = signal === 'SIGTERM' ? hub.drain() : Promise.resolve();
    exitAfter(
      drained.then(() => hub.stop()),
      0,
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
