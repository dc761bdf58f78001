import { HubError, invalidField } from '../errors.ts';

export const JSON_DEPTH_MAX = 32;

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);
/**
 * What may be beyond 1.8e308: JSON.parse makes it infinite, JSON.stringify then makes it null. A
 * number ends where its value does, and an id that holds as much goes on.
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
 * Parses a request body strictly (contract, section 1): UTF-8, at most 32 levels deep, no duplicate
 * and no prototype keys, no NUL and no lone surrogate in any string, no number beyond a double.
 * `JSON.parse` alone keeps the last of two equal keys silently, so two readers of one body could
 * see different requests.
 *
 * @throws HubError INVALID_JSON, or INVALID_REQUEST for what a string must not hold.
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
    // JSON.parse quotes the body in its message; it stays in the cause.
    throw new HubError('INVALID_JSON', 'The body is not valid JSON: check commas and quotes.', {
      cause,
    });
  }
  // Keys are read one by one only where that is to say which of them is wrong.
  if (countMembers(value) !== members) checkKeys(text);
  // Raw control characters are refused by JSON.parse and raw surrogates by UTF-8: both can only
  // come from an escape.
  if (text.includes('\\u') || hugeNumber.test(text)) checkValues(value, '');
  return value;
}

/**
 * One pass over the text, for its depth. Syntax is JSON.parse's part.
 * @returns how many members its objects have together, equal keys counted each.
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

/** The members that JSON.parse has kept; no number when a key is not allowed. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
    return count;
  }
  const members = value as Record<string, unknown>;
  // What JSON.parse made has no inherited members.
  for (const key in members) {
    if (forbiddenKeys.has(key)) return Number.NaN;
    count += 1 + countMembers(members[key]);
  }
  return count;
}

/** @throws HubError INVALID_JSON for the first key that stands twice or is not allowed. */
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
  throw new Error('a body that its parser refuses has a key to name');
}

/** The index of the closing quote, or the text's length when there is none. */
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
  // Escapes spell equal keys differently; only then is a real parse needed.
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function checkKey(key: string, keys: Set<string>): void {
  if (keys.has(key)) {
    throw new HubError('INVALID_JSON', `The key ${JSON.stringify(key)} stands twice: keep one.`);
  }
  if (forbiddenKeys.has(key)) {
    throw new HubError('INVALID_JSON', `The key ${JSON.stringify(key)} is not allowed: rename it.`);
  }
  keys.add(key);
}

function checkValues(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidField(path, 'is a number too large to be kept');
  }
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalidField(path, 'must not hold the NUL character');
    if (!value.isWellFormed()) throw invalidField(path, 'must not hold a lone surrogate');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1');
    checkValues(key, `${path}/${escaped}`);
    checkValues(member, `${path}/${escaped}`);
  }
}
