import { HubError, invalidField } from '../base/errors.ts';

export const JSON_DEPTH_MAX = 32;

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);
/**
 * Matches texts that may hold a number beyond 1.8e308, which JSON.parse turns into Infinity and
 * JSON.stringify into null. The end of the value is part of the pattern, so that most ids with such
 * digits do not match.
 */
const hugeNumber = /[eE]\+?\d{3,}\s*(?:[,\]}]|$)|\d{309}/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Parses a request body strictly: UTF-8, at most 32 levels deep, no duplicate keys, no prototype
 * keys, no NUL and no lone surrogate in any string, no number beyond a double. `JSON.parse` by
 * itself keeps the last of two equal keys, so two readers of one body could see different requests.
 *
 * @throws HubError INVALID_JSON, or INVALID_REQUEST for a value that is not allowed.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new HubError('INVALID_JSON', 'The body is not valid UTF-8: encode it as UTF-8.', {
      cause,
    });
  }
  const members = scanStructure(text);
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // The message of JSON.parse quotes the body, so it stays in the cause.
    throw new HubError('INVALID_JSON', 'The body is not valid JSON: check commas and quotes.', {
      cause,
    });
  }
  // Only a body with a wrong key is read key by key, to name that key.
  if (countMembers(value) !== members) checkKeys(text);
  // JSON.parse refuses raw control characters and UTF-8 raw surrogates, so both can only come from
  // an escape.
  if (text.includes('\\u') || hugeNumber.test(text)) checkValues(value, '');
  return value;
}

/**
 * Checks the depth in one pass over the text; JSON.parse checks the syntax.
 * @returns how many members all objects have together, with duplicate keys counted separately.
 */
function scanStructure(text: string): number {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        if (depth > JSON_DEPTH_MAX) {
          throw new HubError(
            'INVALID_JSON',
            `The body is nested deeper than ${JSON_DEPTH_MAX} levels: flatten it.`,
          );
        }
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COLON:
        members += 1;
        break;
    }
  }
  return members;
}

/** How many members JSON.parse has kept; NaN if a key is not allowed. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
    return count;
  }
  const members = value as Record<string, unknown>;
  // Objects of JSON.parse have no inherited members.
  for (const key in members) {
    if (forbiddenKeys.has(key)) return Number.NaN;
    count += 1 + countMembers(members[key]);
  }
  return count;
}

/** @throws HubError INVALID_JSON for the first key that is duplicate or not allowed. */
function checkKeys(text: string): void {
  // Per open level: the keys seen in an object, null for an array.
  const levels: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        const keys = levels.at(-1);
        if (expectsKey && keys) checkKey(keyOf(text.slice(at, end + 1)), keys);
        at = end;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        const isObject = text.charCodeAt(at) === OPEN_BRACE;
        levels.push(isObject ? new Set() : null);
        expectsKey = isObject;
        break;
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        levels.pop();
        expectsKey = false;
        break;
      case COLON:
        expectsKey = false;
        break;
      case COMMA:
        expectsKey = levels.at(-1) instanceof Set;
        break;
    }
  }
  throw new Error('a body with a wrong key must have one to name');
}

/** The index of the closing quote, or the length of the text if it is missing. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function keyOf(quoted: string): string {
  // With escapes, equal keys can be spelled differently, so such a key is parsed.
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function checkKey(key: string, keys: Set<string>): void {
  if (keys.has(key)) {
    throw new HubError('INVALID_JSON', `Duplicate key ${JSON.stringify(key)}: keep one.`);
  }
  if (forbiddenKeys.has(key)) {
    throw new HubError('INVALID_JSON', `The key ${JSON.stringify(key)} is not allowed: rename it.`);
  }
  keys.add(key);
}

function checkValues(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidField(path, 'must be a number of at most 1.8e308');
  }
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalidField(path, 'must not contain the NUL character');
    if (!value.isWellFormed()) throw invalidField(path, 'must not contain a lone surrogate');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1');
    checkValues(key, `${path}/${escaped}`);
    checkValues(member, `${path}/${escaped}`);
  }
}
