import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HookTool } from '@signalbox/contract';
import { CliError } from '../../../cli-error.ts';
import { exitCodes } from '../../../exit-codes.ts';

/** A handler of hooks, in the form that Claude Code and Codex share. */
export interface HookHandler {
  type: 'command';
  command: string;
  /** Seconds. */
  timeout: number;
  statusMessage?: string;
}

/** The tool's configuration, as it is and as it is to be. */
export interface HookEdit {
  file: string;
  /** Null: the file does not exist. */
  before: string | null;
  /** Null: the file is deleted. */
  after: string | null;
}

type Json = Record<string, unknown>;
const EVENT = 'PermissionRequest';
const COPY_SUFFIX = '.before-signalbox';
const INDENT_DEFAULT = '  ';

/**
 * The file in which a tool reads hooks: that of the person, or the one of a clone that is for this
 * person only.
 *
 * @param root the top directory of the clone; null: the person's own file.
 */
export function hookFileOf(tool: HookTool, env: NodeJS.ProcessEnv, root: string | null): string {
  const home = env.HOME || homedir();
  if (tool === 'claude') {
    if (root !== null) return join(root, '.claude', 'settings.local.json');
    return join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json');
  }
  const folder = root === null ? env.CODEX_HOME || join(home, '.codex') : join(root, '.codex');
  return join(folder, 'hooks.json');
}

/** The installed handler of a file; null without one. @throws {CliError} HOOK_FILE_INVALID */
export async function readHook(file: string, tool: HookTool): Promise<HookHandler | null> {
  const text = await readText(file);
  return text === null ? null : (handlersOf(parse(file, text)).find(isOwn(tool)) ?? null);
}

/** Adds the handler to a file, or replaces it. @throws {CliError} HOOK_FILE_INVALID */
export async function planInstall(
  file: string,
  tool: HookTool,
  handler: HookHandler,
): Promise<HookEdit> {
  const { before, after } = await planRemove(file, tool);
  const own = before === null ? undefined : handlersOf(parse(file, before)).find(isOwn(tool));
  if (JSON.stringify(own) === JSON.stringify(handler)) return { file, before, after: before };
  return { file, before, after: withHook(file, after, handler) };
}

function withHook(file: string, before: string | null, handler: HookHandler): string {
  const json = before === null ? {} : parse(file, before);
  const isFirst = json.hooks === undefined && Object.keys(json).length > 0;
  const hooks = { ...objectAt(json, 'hooks'), [EVENT]: [...groupsOf(json), { hooks: [handler] }] };
  return isFirst && before !== null ? append(before, hooks) : render({ ...json, hooks }, before);
}

/**
 * Removes the handler. A file that is as the installation has left it becomes what it was before.
 * @throws {CliError} HOOK_FILE_INVALID
 */
export async function planRemove(file: string, tool: HookTool): Promise<HookEdit> {
  const before = await readText(file);
  if (before === null) return { file, before, after: null };
  const json = parse(file, before);
  const own = handlersOf(json).find(isOwn(tool));
  if (own === undefined) return { file, before, after: before };
  const copy = await readText(file + COPY_SUFFIX);
  if (copy !== null && withHook(file, copy, own) === before) {
    return { file, before, after: copy };
  }
  const groups = groupsOf(json).flatMap((group) => {
    const { hooks } = group;
    if (!Array.isArray(hooks) || !hooks.includes(own)) return [group];
    return hooks.length === 1 ? [] : [{ ...group, hooks: hooks.filter((each) => each !== own) }];
  });
  const { [EVENT]: _groups, ...events } = objectAt(json, 'hooks');
  if (groups.length > 0) json.hooks = { ...objectAt(json, 'hooks'), [EVENT]: groups };
  else if (Object.keys(events).length > 0) json.hooks = events;
  else delete json.hooks;
  const isNew = copy === null && Object.keys(json).length === 0;
  return { file, before, after: isNew ? null : render(json, before) };
}

/**
 * Writes the whole file or none.
 *
 * @param copy of the file without the hook: made when the hook is installed, kept when it is
 *   replaced, and deleted with it.
 */
export async function writeHookEdit(
  { file, before, after }: HookEdit,
  { copy }: { copy: 'make' | 'keep' | 'delete' },
): Promise<void> {
  // A link, as from a folder of dotfiles, stays one.
  const place = before === null ? file : await realpath(file);
  const mode = before === null ? 0o600 : (await stat(place)).mode & 0o777;
  if (copy === 'make' && before !== null) await replaceFile(file + COPY_SUFFIX, before, mode);
  if (after === null) await rm(place, { force: true });
  else await replaceFile(place, after, mode);
  if (copy === 'delete') await rm(file + COPY_SUFFIX, { force: true });
}

async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, text, { flag: 'wx', flush: true });
    await chmod(draft, mode);
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function parse(file: string, text: string): Json {
  try {
    const json: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (isObject(json) && isObject(json.hooks ?? {}) && Array.isArray(groupsOf(json))) return json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const message = `${file} is not JSON with hooks as its tool expects them. It stays as it is.`;
  throw new CliError(exitCodes.failed, 'HOOK_FILE_INVALID', message, { fix: 'Correct the file.' });
}

/** Adds the hooks at the end, and changes nothing else. */
function append(before: string, hooks: Json): string {
  const indent = indentOf(before);
  const body = before.trimEnd();
  const lines = JSON.stringify(hooks, null, indent).split('\n').join(`\n${indent}`);
  const added = `,\n${indent}"hooks": ${lines}\n}`;
  const isWindows = before.includes('\r\n');
  return (
    body.slice(0, -1).trimEnd() +
    (isWindows ? added.replaceAll('\n', '\r\n') : added) +
    before.slice(body.length)
  );
}

function indentOf(text: string | null): string {
  return /\n([ \t]+)"/.exec(text ?? '')?.[1] ?? INDENT_DEFAULT;
}

/** As the file is written: its indentation, its line ends, and its last one. */
function render(json: Json, before: string | null): string {
  const text = JSON.stringify(json, null, indentOf(before));
  const end = before === null ? '\n' : (/\s*$/.exec(before)?.[0] ?? '');
  const isWindows = before?.includes('\r\n') === true;
  return (isWindows ? text.replaceAll('\n', '\r\n') : text) + end;
}

function handlersOf(json: Json): HookHandler[] {
  return groupsOf(json).flatMap(({ hooks }) => (Array.isArray(hooks) ? hooks : []));
}

function groupsOf(json: Json): Json[] {
  return (objectAt(json, 'hooks')[EVENT] ?? []) as Json[];
}

function objectAt(json: Json, name: string): Json {
  return isObject(json[name]) ? json[name] : {};
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOwn(tool: HookTool) {
  const line = new RegExp(`signalbox(\\.mjs|\\.cmd)?['"]? hook run ${tool}\\b`);
  return (handler: unknown) =>
    isObject(handler) && typeof handler.command === 'string' && line.test(handler.command);
}
