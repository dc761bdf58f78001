import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CliError } from '../../../cli-error.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { launchdPlist, type Service, systemdUnit } from './unit-file.ts';

type Line = readonly [string, ...string[]];

/** Keeps services of this user running: systemd or launchd. */
export interface ServiceHost {
  /** The file that describes a service. */
  fileOf(name: string): string;
  contentOf(service: Service): string;
  /** The commands that begin to run a service whose file was written, and run it from now on. */
  startLines(name: string, isReplaced: boolean): readonly Line[];
  /** The commands that end it, and make the host forget it; the file is removed in between. */
  stopLines(name: string): { before: readonly Line[]; after: readonly Line[] };
  /** The command whose output is `isRunning` of its text. */
  statusLine(name: string): Line;
  isRunning(output: string): boolean;
  /** For people: how to read the log. */
  logLine(name: string): string;
  /** A hint for the person after an install; null: no hint is needed. */
  advice(): string | null;
}

/** @throws {CliError} SERVICE_UNSUPPORTED: this system has neither systemd nor launchd. */
export function findServiceHost(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): ServiceHost {
  if (platform === 'linux') return systemd(env);
  if (platform === 'darwin') return launchd(env);
  const message = `signalbox agent service install knows systemd and launchd, and not ${platform}.`;
  throw new CliError(exitCodes.usage, 'SERVICE_UNSUPPORTED', message, {
    fix: 'Let another service run: signalbox agent start',
  });
}

function systemd(env: NodeJS.ProcessEnv): ServiceHost {
  const home = env.HOME || homedir();
  const directory = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd', 'user');
  const call = (...args: string[]): Line => ['systemctl', '--user', ...args];
  const unit = (name: string) => `${name}.service`;
  return {
    fileOf: (name) => join(directory, unit(name)),
    contentOf: systemdUnit,
    startLines: (name, isReplaced) => [
      call('daemon-reload'),
      call('enable', unit(name)),
      call(isReplaced ? 'restart' : 'start', unit(name)),
    ],
    stopLines: (name) => ({
      before: [call('disable', '--now', unit(name))],
      after: [call('daemon-reload')],
    }),
    statusLine: (name) => call('is-active', unit(name)),
    isRunning: (output) => output.trim() === 'active',
    logLine: (name) => `journalctl --user -u ${name} -f`,
    advice() {
      const { username } = userInfo();
      if (existsSync(join('/var/lib/systemd/linger', username))) return null;
      return `It ends when you log out. To keep it running: loginctl enable-linger ${username}`;
    },
  };
}

function launchd(env: NodeJS.ProcessEnv): ServiceHost {
  const home = env.HOME || homedir();
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const file = (name: string) => join(home, 'Library', 'LaunchAgents', `${name}.plist`);
  const bootout = (name: string): Line => ['launchctl', 'bootout', `${domain}/${name}`];
  return {
    fileOf: file,
    contentOf: launchdPlist,
    startLines: (name, isReplaced) => [
      ...(isReplaced ? [bootout(name)] : []),
      ['launchctl', 'bootstrap', domain, file(name)],
    ],
    stopLines: (name) => ({ before: [bootout(name)], after: [] }),
    statusLine: (name) => ['launchctl', 'print', `${domain}/${name}`],
    isRunning: (output) => /^\s*state = running$/m.test(output),
    logLine: (name) => `tail -f ${logFileOf(home, name)}`,
    advice: () => null,
  };
}

export function logFileOf(home: string, name: string): string {
  return join(home, 'Library', 'Logs', `${name}.log`);
}

const execute = promisify(execFile);

/** Runs a command of the host. @throws {CliError} SERVICE_REFUSED, with what it printed. */
export async function runLine([file, ...args]: Line, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    return (await execute(file, args, { env })).stdout;
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    const said = stderr.trim() || message;
    const line = [file, ...args].join(' ');
    throw new CliError(exitCodes.failed, 'SERVICE_REFUSED', `${line} failed: ${said}`, {
      fix: 'Log in as this user, without su or sudo, and try again.',
      cause: error,
    });
  }
}

/** Whether a service runs. A host that cannot be asked runs nothing. */
export async function isRunning(
  host: ServiceHost,
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const [file, ...args] = host.statusLine(name);
  try {
    return host.isRunning((await execute(file, args, { env })).stdout);
  } catch (error) {
    // `systemctl is-active` and `launchctl print` fail for services that do not run.
    if (typeof (error as { code?: unknown }).code === 'number') return false;
    throw error;
  }
}
