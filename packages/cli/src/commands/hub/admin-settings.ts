import { AssertionError } from 'node:assert';
import {
  BackupError,
  type Config,
  HubError,
  readConfig,
  SettingError,
  type SettingName,
  settings,
} from '@signalbox/hub';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';

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
  if (error instanceof HubError) {
    const create = 'Create it: signalbox admin workspace create --slug SLUG --name NAME';
    const fix = error.code === 'WORKSPACE_NOT_FOUND' ? { fix: create } : {};
    return new CliError(exitCodes.refused, error.code, message, { cause: error, ...fix });
  }
  return new CliError(exitCodes.failed, 'START_REFUSED', message, { cause: error });
}
