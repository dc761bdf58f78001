import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { CliError } from '../../../cli-error.ts';
import { findLauncher } from '../../../command-name.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { readLogins } from '../../../hub/credentials.ts';
import type { Service } from './unit-file.ts';
import { logFileOf } from './unit-host.ts';

export interface ServiceOptions {
  service: string;
  json?: true;
}

/** Adds the option of all commands about the service. */
export function addServiceOption(program: Command): void {
  program.option('--service <name>', 'the name of the service', 'signalbox-agent');
}

/** @throws {CliError} USAGE */
export function checkServiceName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$/.test(name)) return name;
  const message = `Invalid service name "${name}". Use letters, digits, - and _.`;
  throw new CliError(exitCodes.usage, 'USAGE', message);
}

/** Settings of the person's terminal that the service needs too. Secrets are not among them. */
const carried = [
  ...['SIGNALBOX_CONFIG_DIR', 'SIGNALBOX_STATE_DIR', 'SIGNALBOX_TOKEN_FILE'],
  ...['SIGNALBOX_URL', 'SIGNALBOX_WORKSPACE', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS', 'LANG'],
];
const paths = /(_DIR|_FILE|_HOME|_CERTS)$/;

/**
 * The service that runs `signalbox agent start` as it would run here.
 * @throws {CliError} NOT_LOGGED_IN, SERVICE_NEEDS_INSTALL.
 */
export async function planService(
  env: NodeJS.ProcessEnv,
  { name, config }: { name: string; config: string | undefined },
): Promise<Service> {
  await requireLogin(env);
  const path = ownPath(env);
  const home = env.HOME || homedir();
  const variables = carried.flatMap((variable) => {
    const value = env[variable];
    if (!value) return [];
    return [[variable, paths.test(variable) ? resolve(value) : value] as const];
  });
  const flags = config === undefined ? [] : ['--config', resolve(config)];
  return {
    name,
    program: [...lastingProgram(env, path, ofService), 'agent', 'start', ...flags],
    environment: { PATH: path, ...Object.fromEntries(variables) },
    directory: home,
    logFile: logFileOf(home, name),
  };
}

/** The unit would have to name a token of the environment, and others may read the unit. */
async function requireLogin(env: NodeJS.ProcessEnv): Promise<void> {
  if (env.SIGNALBOX_TOKEN_FILE || (await readLogins(env)).length > 0) return;
  const message = env.SIGNALBOX_TOKEN
    ? 'The service does not get SIGNALBOX_TOKEN: its file would show the token.'
    : 'This machine is not logged in.';
  throw new CliError(exitCodes.unauthorized, 'NOT_LOGGED_IN', message, {
    fix: env.SIGNALBOX_TOKEN
      ? 'Write the token to a file, and set SIGNALBOX_TOKEN_FILE.'
      : 'signalbox login --workspace SLUG',
  });
}

/** The PATH without the directories that npm puts before it. */
function ownPath(env: NodeJS.ProcessEnv): string {
  const isOfNpm = (folder: string) => /[\\/](node_modules[\\/]\.bin|node-gyp-bin)$/.test(folder);
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.filter((folder) => !isOfNpm(folder)).join(delimiter);
}

const ofService = {
  what: 'a service',
  code: 'SERVICE_NEEDS_INSTALL',
  line: 'signalbox agent service install',
};

/**
 * How another program starts this one at any time. The launcher needs some Node to begin with;
 * without one on the PATH, the one that runs this.
 *
 * @throws {CliError} with the code: npx runs this command.
 */
export function lastingProgram(
  env: NodeJS.ProcessEnv,
  path: string,
  { what, code, line }: { what: string; code: string; line: string },
): [string, ...string[]] {
  const launcher = findLauncher(env);
  if (launcher === null) {
    const message = `npx keeps this command only for a while, too short for ${what}.`;
    throw new CliError(exitCodes.usage, code, message, {
      fix: `npm install --global @signalbox/cli, then: ${line}`,
    });
  }
  const hasNode = path.split(delimiter).some((folder) => existsSync(join(folder, 'node')));
  return hasNode ? [launcher] : [process.execPath, launcher];
}
