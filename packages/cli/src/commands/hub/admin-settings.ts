import { AssertionError } from 'node:assert';
import { resolve } from 'node:path';
import {
  BackupError,
  type Config,
  HubError,
  HubMissingError,
  readConfig,
  SettingError,
  type SettingName,
  settings,
} from '@signalbox/hub';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Io } from '../../terminal/io.ts';

type Setting = (typeof settings)[SettingName];

/** Adds the flags of some of the hub's settings to a command. */
export function addSettings(program: Command, rows: readonly Setting[]): void {
  for (const setting of rows) {
    const { flag, env, description } = setting;
    const standard = setting.default === '' ? '' : `, default ${setting.default}`;
    program.option(`--${flag} <value>`, `${description} ${env}${standard}`);
  }
}

/** The settings given as flags, with their values. */
export function flagsOf(
  options: Record<string, unknown>,
): (readonly [setting: Setting, value: string, name: SettingName])[] {
  // Object.entries loses the key type.
  const rows = Object.entries(settings) as [SettingName, Setting][];
  return rows.flatMap(([name, setting]) => {
    const value = options[camelCase(setting.flag)];
    return typeof value === 'string' ? [[setting, value, name] as const] : [];
  });
}

/** The property under which commander stores a flag's value. */
function camelCase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Settings of commands that open the hub's database. */
export const databaseSettings: readonly Setting[] = [settings.dataDir, settings.databaseUrl];

/** Settings of commands that also create links to the hub. */
export const linkSettings: readonly Setting[] = [
  ...databaseSettings,
  settings.baseUrl,
  settings.host,
  settings.port,
];

/** @throws {CliError} SETTING_INVALID */
export function readHubConfig(env: NodeJS.ProcessEnv, options: Record<string, unknown>): Config {
  try {
    const flags = flagsOf(options).map(([, value, name]) => [name, value]);
    return readConfig(env, Object.fromEntries(flags));
  } catch (error) {
    throw explainHubError(error);
  }
}

/** Says which hub a command uses, before it does: the settings may name another one than meant. */
export function noteHub(io: Io, { databaseUrl, dataDir }: Config): void {
  if (io.json) return;
  const url = databaseUrl === null ? null : new URL(databaseUrl);
  const where =
    url === null ? `in ${resolve(dataDir)}` : `on PostgreSQL, ${url.host}${url.pathname}`;
  io.note(io.errorStyles.dim(`Hub ${where}`));
}

const bugs = [TypeError, ReferenceError, RangeError, SyntaxError, AssertionError];

/** Expected errors of the hub become a message without a stack; a defect keeps its stack. */
export function explainHubError(error: unknown): unknown {
  if (!(error instanceof Error) || bugs.some((bug) => error instanceof bug)) return error;
  const { message } = error;
  if (error instanceof SettingError) {
    return new CliError(exitCodes.usage, 'SETTING_INVALID', message, { cause: error });
  }
  if (error instanceof BackupError) {
    return new CliError(exitCodes.refused, 'BACKUP_REFUSED', message, { cause: error });
  }
  if (error instanceof HubMissingError) {
    return new CliError(exitCodes.refused, 'HUB_MISSING', message, { cause: error });
  }
  if (error instanceof HubError) {
    const create = 'Create it: signalbox admin workspace create --slug SLUG --name NAME';
    const fix = error.code === 'WORKSPACE_NOT_FOUND' ? { fix: create } : {};
    return new CliError(exitCodes.refused, error.code, message, { cause: error, ...fix });
  }
  return new CliError(exitCodes.failed, 'START_REFUSED', message, { cause: error });
}
