/**
 * The text of a token (docs/reference/protocol.md, section 2.1): the prefix of its kind, 32 random
 * bytes in base62 (43 characters, padded with zeros), and the CRC-32 of what precedes in base62 (6
 * characters). By the check characters the hub rejects a mistyped or invented token before any
 * database work, and secret scanners distinguish a token from similar text. They give no security;
 * the random bytes do.
 */
import { crc32 } from './crc32.ts';

/**
 * The prefix of each kind. An `assistant` token works at `/mcp` only, and a `refresh` token is only
 * exchanged for the next one. A `job` token belongs to one claim and ends with its lease. An
 * `integration` secret is no bearer token: it only sends events to its workspace.
 */
export const tokenPrefixes = {
  device: 'sbx_d_',
  service: 'sbx_s_',
  assistant: 'sbx_a_',
  refresh: 'sbx_r_',
  job: 'sbx_j_',
  integration: 'sbx_i_',
} as const;
export type TokenKind = keyof typeof tokenPrefixes;

export const TOKEN_BYTES = 32;
/** All prefixes have the same length, so each part of a token is at a fixed position. */
const PREFIX_CHARS = 6;
/** 62^43 is the first power of 62 above 2^256. */
const BODY_CHARS = 43;
/** 62^6 is the first power of 62 above 2^32. */
const CHECK_CHARS = 6;
/** The length of a token. */
export const TOKEN_CHARS = PREFIX_CHARS + BODY_CHARS + CHECK_CHARS;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const NO_DIGIT = 255;
/** Maps each ASCII character to its value as a base62 digit. */
const digitOfChar = new Uint8Array(128).fill(NO_DIGIT);
for (let digit = 0; digit < BASE62.length; digit++) digitOfChar[BASE62.charCodeAt(digit)] = digit;

const kindOfPrefix = new Map<string, TokenKind>(
  // Object.entries forgets the key's type.
  Object.entries(tokenPrefixes).map(([kind, prefix]) => [prefix, kind as TokenKind]),
);

/**
 * Formats 32 random bytes as a token.
 * @throws {RangeError} if there are not exactly 32 bytes.
 */
export function formatToken(kind: TokenKind, bytes: Uint8Array): string {
  if (bytes.length !== TOKEN_BYTES)
    throw new RangeError(`A token needs exactly ${TOKEN_BYTES} bytes.`);
  const checked = tokenPrefixes[kind] + toBase62(bytes, BODY_CHARS);
  return checked + formatDigits(crc32(checked, checked.length), CHECK_CHARS);
}

/**
 * Returns the kind of a token whose shape and check characters are right, and otherwise null. Only
 * the hub's database knows whether the token was issued. It allocates almost nothing, because it
 * runs on every request.
 */
export function parseToken(text: string): { kind: TokenKind } | null {
  if (text.length !== TOKEN_CHARS) return null;
  const kind = kindOfPrefix.get(text.slice(0, PREFIX_CHARS));
  if (kind === undefined) return null;
  let check = 0;
  for (let i = PREFIX_CHARS; i < TOKEN_CHARS; i++) {
    const digit = digitOfChar[text.charCodeAt(i)] ?? NO_DIGIT;
    if (digit === NO_DIGIT) return null;
    if (i >= PREFIX_CHARS + BODY_CHARS) check = check * BASE62.length + digit;
  }
  return check === crc32(text, PREFIX_CHARS + BODY_CHARS) ? { kind } : null;
}

/**
 * Matches whole and truncated tokens, with right or wrong check characters. Shorter pieces stay: 16
 * characters of a body reveal too little to guess the other 27 (160 bits).
 */
export const tokenInTextPattern = /(sbx_[dsarji]_)[0-9A-Za-z]{16,}/g;

/**
 * Replaces every token in a text by its kind, such as `sbx_d_…`: for logs, errors and the output of
 * tools. Redact streams by whole lines, because a token that is split between two chunks is not
 * recognized.
 */
export function redactTokens(text: string): string {
  return text.replace(tokenInTextPattern, '$1…');
}

/** Digits taken off a number at once: 62^5 is the last power of 62 below 2^32. */
const DIGITS_AT_ONCE = 5;
const POWER_AT_ONCE = BASE62.length ** DIGITS_AT_ONCE;

/**
 * Writes big-endian bytes, of an even count, in base62. It avoids BigInt, because every claim makes
 * a token.
 */
function toBase62(bytes: Uint8Array, chars: number): string {
  const rest: number[] = [];
  // The indices are below the length, which the type does not express.
  for (let i = 0; i < bytes.length; i += 2) {
    rest.push((bytes[i] as number) * 256 + (bytes[i + 1] as number));
  }
  let text = '';
  while (text.length < chars) {
    // Long division, two bytes at a time. No part reaches 2^46, so all are exact.
    let carried = 0;
    for (let i = 0; i < rest.length; i++) {
      const part = carried * 65_536 + (rest[i] as number);
      const quotient = Math.floor(part / POWER_AT_ONCE);
      rest[i] = quotient;
      carried = part - quotient * POWER_AT_ONCE;
    }
    text = formatDigits(carried, DIGITS_AT_ONCE) + text;
  }
  return text.slice(-chars);
}

/** Writes an integer below 2^32 in base62. */
function formatDigits(number: number, chars: number): string {
  let text = '';
  for (let rest = number; text.length < chars; rest = (rest / BASE62.length) >>> 0) {
    text = BASE62.charAt(rest % BASE62.length) + text;
  }
  return text;
}
