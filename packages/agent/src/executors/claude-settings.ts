import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, listOf, objectOf, parseObject } from './json-fields.ts';

/** The settings of the person that a job keeps. */
export interface KeptSettings {
  /** For `--settings`. */
  settings: JsonObject;
  env: Record<string, string>;
  /** The person's own text for the model; null without one. */
  memoryFile: string | null;
}

/**
 * Settings about login, provider and answers. The list says what is kept, and not what is left out:
 * a later version may know another setting that allows something.
 */
const keptNames = [
  ...['apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'gcpAuthRefresh'],
  ...['otelHeadersHelper', 'forceLoginMethod', 'forceLoginOrgUUID', 'model', 'availableModels'],
  ...['effortLevel', 'alwaysThinkingEnabled', 'language', 'attribution', 'includeCoAuthoredBy'],
];
const SETTINGS_BYTES_MAX = 1024 * 1024;

/**
 * Reads what a job keeps of the person's settings. Claude Code itself reads none of them in a job:
 * their rules, directories, hooks and plugins would allow actions that the agent does not.
 */
export function readKeptSettings(env: NodeJS.ProcessEnv): KeptSettings {
  const folder = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), '.claude');
  const own = readOwnFile(folder, 'settings.json');
  const kept = keptNames.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  const deny = listOf(objectOf(own.permissions).deny);
  const memoryFile = join(folder, 'CLAUDE.md');
  return {
    settings: {
      ...Object.fromEntries(kept),
      ...(deny.length === 0 ? {} : { permissions: { deny } }),
    },
    env: Object.fromEntries(
      Object.entries(objectOf(own.env)).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    ),
    memoryFile: existsSync(memoryFile) ? memoryFile : null,
  };
}

/**
 * Reads a JSON file of the folder's owner. The folder may be writable for a tool, which must not
 * make the agent wait for a pipe, or pass on a file of another user.
 */
function readOwnFile(folder: string, name: string): JsonObject {
  let file: number;
  try {
    file = openSync(join(folder, name), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENXIO'].includes(code)) return {};
    throw error;
  }
  try {
    const { size, uid, isFile } = describe(file);
    if (!isFile || size > SETTINGS_BYTES_MAX || uid !== statSync(folder).uid) return {};
    const bytes = Buffer.alloc(size);
    return parseObject(bytes.toString('utf8', 0, readSync(file, bytes))) ?? {};
  } finally {
    closeSync(file);
  }
}

function describe(file: number): { size: number; uid: number; isFile: boolean } {
  const stats = fstatSync(file);
  return { size: stats.size, uid: stats.uid, isFile: stats.isFile() };
}
