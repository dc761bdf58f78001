// Not the whole contract: threads import this file, and loading that takes most of a short life.
import { secretPatterns } from '@signalbox/contract/secret-formats';
import { redactTokens } from '@signalbox/contract/token-format';

const REDACTED = '[redacted]';

/**
 * Secrets that follow something, such as a name. Group 1 is kept, the secret is replaced. Each
 * takes linear time, as those of the contract do.
 */
export const namedPatterns: readonly RegExp[] = [
  // JSON web tokens: header and payload are JSON objects in base64url. Starts once in a run of its
  // characters, at the first header. A lookahead with a reference to it does not backtrack.
  /(?<![\w-])(?=([\w-]*?)\beyJ[\w-]{10})(?=([\w-]+))\2\.(?=eyJ)(?=([\w-]{13,}))\3\.[\w-]*/g,
  // user:password@ in a URL.
  /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@]{0,200}:)[^\s/?#@]{1,500}(?=@)/gi,
  // Authorization headers.
  /(\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s{1,3})[0-9A-Za-z+/=_.~-]{8,4000}/gi,
  // A secret's name and a value: password = …, "apiKey": "…", AWS_SECRET_ACCESS_KEY=….
  // Prose may follow a colon, so a value there must contain more than lower-case letters.
  /((?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key|(?:auth|access|refresh)[_-]?token)["']?\s{0,3}[:=]\s{0,3}["'])[^"'\r\n]{6,500}(?=["'])/gi,
  /((?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key|(?:auth|access|refresh)[_-]?token)\s{0,3}=\s{0,3})[^\s"',;&<>[\]]{6,500}/gi,
  /((?:[Pp]assword|[Pp]asswd|[Pp]assphrase|[Ss]ecret|[Kk]ey|[Tt]oken|PASSWORD|SECRET|KEY|TOKEN)\s{0,3}:\s{0,3})(?=[a-z]{0,500}[0-9A-Z!#$%^*+/=~_-])[^\s"',;&<>[\]]{8,500}/g,
];

/**
 * Replaces secrets in a text: Signalbox tokens, keys of well-known formats, credentials in URLs and
 * headers, and values that follow a secret's name. A secret with neither a known format nor such a
 * name is not found.
 */
export function redactSecrets(text: string): string {
  let clean = redactTokens(text);
  for (const pattern of secretPatterns) clean = clean.replace(pattern, REDACTED);
  for (const pattern of namedPatterns) clean = clean.replace(pattern, `$1${REDACTED}`);
  return clean;
}
