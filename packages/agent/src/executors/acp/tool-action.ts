import { createHash } from 'node:crypto';
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { ToolCallContent, ToolKind } from '@agentclientprotocol/sdk/unstable';
import { isObject, objectOf, textOf } from '../json-fields.ts';

/** A tool call, merged from all messages about it. */
export interface ToolCallState {
  toolCallId: string;
  title: string;
  kind: ToolKind;
  /** The tool's own name, such as Bash, if it tells. */
  toolName: string;
  /** The MCP server that the tool belongs to, or ''. */
  mcpServer: string;
  rawInput: unknown;
  content: readonly ToolCallContent[];
  paths: readonly string[];
}

/** An action that a tool wants to take. */
export interface ToolAction {
  /** Identifies the action within the job, also when another process asks for it again. */
  key: string;
  kind: ToolKind | 'mcp';
  title: string;
  toolName: string;
  /** The MCP server that the tool belongs to, or ''. */
  mcpServer: string;
  /** The command line; '' unless it is a command. */
  command: string;
  /** Files, relative to the worktree where they are in it. */
  paths: readonly string[];
  /** Whether all files are in the worktree. */
  isInside: boolean;
  changes: readonly FileChange[];
  /** An address, for `fetch`. */
  url: string;
}

interface FileChange {
  path: string;
  oldText: string;
  newText: string;
  added: number;
  removed: number;
}

/** As many as Linux follows. */
const LINKS_MAX = 40;
/** Absent, no link, or not to be followed by this process. */
const unfollowable = new Set([
  'ENOENT',
  'ENOTDIR',
  'EINVAL',
  'EACCES',
  'ELOOP',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
]);

/** Fields of a tool's input that differ each time the same action is asked for. */
const volatileFields = new Set(
  ['call_id', 'callId', 'turn_id', 'turnId', 'item_id', 'itemId', 'thread_id', 'threadId']
    .concat(['approval_id', 'approvalId', 'tool_use_id', 'description', 'justification', 'reason'])
    .concat(['availableDecisions', 'proposedExecpolicyAmendment', 'startedAtMs', 'timeout']),
);

/** Describes the action of a tool call for rules, for people, and as a key. */
export function describeAction(call: ToolCallState, cwd: string): ToolAction {
  const input = objectOf(call.rawInput);
  const command = call.kind === 'execute' ? commandOf(input, call) : '';
  const changes = changesOf(call.content, cwd);
  const found = [...call.paths, ...changes.map(({ path }) => path), ...pathsOf(input)];
  const paths = [...new Set(found.map((path) => placeOf(path, cwd)))];
  const { mcpServer, toolName } = ownerOf(call);
  return {
    key: keyOf(call, { command, changes, cwd }),
    kind: mcpServer === '' ? call.kind : 'mcp',
    title: call.title,
    toolName,
    mcpServer,
    command,
    paths,
    isInside: paths.every((path) => !isOutside(path)),
    changes,
    url: textOf(input.url),
  };
}

/** Gemini CLI tells the name of a tool of an MCP server, and of the server, in the title only. */
const titleOfServerTool = /^([\w-]+) \(([\w-]+) MCP Server\)$/;

function ownerOf({ kind, title, toolName, mcpServer, rawInput }: ToolCallState) {
  const isUntold =
    kind === 'other' && toolName === '' && mcpServer === '' && rawInput === undefined;
  const told = isUntold ? titleOfServerTool.exec(title) : null;
  return { toolName: told?.[1] ?? toolName, mcpServer: told?.[2] ?? mcpServer };
}

/**
 * Whether a path, as `placeOf` gives it, is outside the worktree or in a git directory. Some file
 * systems take `.GIT` for the same.
 */
function isOutside(path: string): boolean {
  return isAbsolute(path) || path.split('/').some((part) => part.toLowerCase() === '.git');
}

/** Where a path leads: relative to the worktree if that is in it, and absolute otherwise. */
function placeOf(path: string, cwd: string): string {
  const place = realPlaceOf(resolve(cwd, path));
  const inside = relative(realPlaceOf(cwd), place);
  return inside === '..' || inside.startsWith('../') ? place : inside || '.';
}

/** Follows links, as far as the path exists, and also a link to what does not exist yet. */
function realPlaceOf(path: string, links = 0): string {
  const found = tryTo(() => realpathSync(path));
  if (found !== null) return found;
  const parent = dirname(path);
  // Nothing leads to it: it counts as outside.
  if (parent === path || links > LINKS_MAX) return '/';
  const target = tryTo(() => readlinkSync(path));
  if (target !== null) return realPlaceOf(resolve(parent, target), links + 1);
  return join(realPlaceOf(parent, links), basename(path));
}

function tryTo(look: () => string): string | null {
  try {
    return look();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (unfollowable.has(code)) return null;
    throw error;
  }
}

function commandOf(input: Record<string, unknown>, call: ToolCallState): string {
  const { command, cmd } = input;
  const given = command ?? cmd;
  if (Array.isArray(given)) return unwrapShell(given.map(String));
  if (textOf(given) !== '') return textOf(given);
  return call.title.replace(/^`(.*)`$/s, '$1');
}

/** `bash -lc '…'` is the tool's way to run a line; people and rules look at the line. */
function unwrapShell(words: readonly string[]): string {
  const [shell = '', flag = '', line] = words;
  const isShell = /(^|\/)(ba|z|da)?sh$/.test(shell) && /^-[a-z]*c$/.test(flag);
  return isShell && line !== undefined && words.length === 3 ? line : words.join(' ');
}

function pathsOf(input: Record<string, unknown>): string[] {
  return ['file_path', 'path', 'filePath', 'notebook_path', 'absolute_path']
    .map((name) => textOf(input[name]))
    .filter((path) => path !== '');
}

function changesOf(content: readonly ToolCallContent[], cwd: string): FileChange[] {
  return content.flatMap((part) => {
    if (part.type !== 'diff') return [];
    const oldText = part.oldText ?? '';
    const { newText } = part;
    return [{ path: placeOf(part.path, cwd), oldText, newText, ...countLines(oldText, newText) }];
  });
}

/** Counts lines that only one side has. It is a size for people, not a minimal diff. */
function countLines(oldText: string, newText: string): { added: number; removed: number } {
  const left = new Map<string, number>();
  const lines = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
  for (const line of lines(oldText)) left.set(line, (left.get(line) ?? 0) + 1);
  let added = 0;
  for (const line of lines(newText)) {
    const count = left.get(line) ?? 0;
    if (count === 0) added += 1;
    else left.set(line, count - 1);
  }
  return { added, removed: [...left.values()].reduce((sum, count) => sum + count, 0) };
}

function keyOf(
  call: ToolCallState,
  { command, changes, cwd }: { command: string; changes: readonly FileChange[]; cwd: string },
): string {
  const what = identityOf(call, command, changes);
  const text = JSON.stringify([call.kind, call.mcpServer, what]).replaceAll(cwd, '.');
  return `${call.kind}:${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
}

function identityOf(call: ToolCallState, command: string, changes: readonly FileChange[]) {
  if (command !== '') return { command };
  if (changes.length > 0) {
    return changes.map(({ path, oldText, newText }) => [path, oldText, newText]);
  }
  return isObject(call.rawInput) ? canonical(call.rawInput) : call.title;
}

/** Sorts fields and leaves out those that differ each time. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.keys(value)
    .filter((name) => !volatileFields.has(name))
    .sort()
    .map((name) => [name, canonical(value[name])]);
}
