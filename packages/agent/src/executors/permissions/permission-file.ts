import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { PermissionRule, Verdict } from './permission-policy.ts';

/** The file cannot be used; the message names the line and says what to write. */
export class PermissionFileError extends Error {
  override name = 'PermissionFileError';
}

const verdicts: readonly Verdict[] = ['allow', 'ask', 'refuse'];
const kinds = ['execute', 'read', 'edit', 'delete', 'move', 'search', 'fetch', 'switch_mode']
  .concat(['think', 'mcp', 'other', '*'])
  .toSorted();
const FILE_BYTES_MAX = 256 * 1024;

/**
 * Reads a permission file: one rule a line, `allow|ask|refuse KIND [PATTERN]`, the first match
 * counts. `[agent NAME]` and `[repository PATH|ID]` limit the lines below them, `[all]` ends that.
 *
 * @throws {PermissionFileError}
 */
export async function readPermissionFile(file: string): Promise<PermissionRule[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new PermissionFileError(`${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) {
    throw new PermissionFileError(`${file} is larger than ${FILE_BYTES_MAX} bytes.`);
  }
  return parsePermissions(text, file);
}

/** @throws {PermissionFileError} */
export function parsePermissions(text: string, file: string): PermissionRule[] {
  const rules: PermissionRule[] = [];
  let scope: Pick<PermissionRule, 'agent' | 'repository'> = { agent: null, repository: null };
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const fail = (message: string) => new PermissionFileError(`${file}:${index + 1}: ${message}`);
    const [, header] = /^\[(.*)\]$/.exec(line) ?? [];
    if (header !== undefined) {
      scope = readScope(header.trim(), file, fail);
      continue;
    }
    rules.push({ ...readRule(line, fail), ...scope });
  }
  return rules;
}

/**
 * Reads one rule, as a line of a permission file; the caller says where it stands.
 *
 * @throws {PermissionFileError} with a message that begins in lower case.
 */
export function parsePermissionRule(line: string): PermissionRule {
  const rule = readRule(line.trim(), (message) => new PermissionFileError(message));
  return { ...rule, agent: null, repository: null };
}

type Fail = (message: string) => PermissionFileError;

function readScope(header: string, file: string, fail: Fail) {
  const [, word = '', name = ''] = /^(\S+)(?:\s+(.+))?$/.exec(header) ?? [];
  if (word === 'all' && name === '') return { agent: null, repository: null };
  if (word === 'agent' && name !== '') return { agent: name, repository: null };
  if (word === 'repository' && name !== '') {
    const isPath = isAbsolute(name) || name.startsWith('.');
    return { agent: null, repository: isPath ? resolve(dirname(file), name) : name };
  }
  throw fail('write [all], [agent NAME] or [repository PATH], such as [agent codex].');
}

function readRule(line: string, fail: Fail): Pick<PermissionRule, 'verdict' | 'what' | 'pattern'> {
  const [, word = '', what = '', pattern = ''] =
    /^(\S+)(?:\s+(\S+))?(?:\s+(.+))?$/.exec(line) ?? [];
  const verdict = verdicts.find((known) => known === word);
  if (verdict === undefined) {
    throw fail(`begin with ${verdicts.join(', ')}, such as: allow execute npm test*`);
  }
  if (!kinds.includes(what)) {
    const shown = what === '' ? 'nothing' : `"${what}"`;
    throw fail(`after ${verdict} comes one of ${kinds.join(', ')}, not ${shown}.`);
  }
  return { verdict, what, pattern };
}
