import { redactTokens } from '@signalbox/contract';
import { hideUrlCredentials } from '../git/git.ts';

/** Redacts secrets in text that leaves the machine. */
export interface Redactor {
  redact(text: string): string;
  /** Adds the secrets of an environment (a hook may export some); earlier ones stay known. */
  learn(env: NodeJS.ProcessEnv): void;
  /** Length of the longest secret: a shorter piece of text may contain only part of one. */
  longestChars(): number;
}

/** Shorter values (`1`, `true`, `none`) are switches; redacting them would garble ordinary text. */
const SECRET_CHARS_MIN = 6;
/** Length of a complete contract token. A part of a token cannot be recognized. */
const TOKEN_CHARS_LONGEST = 128;
const PLACEHOLDER = '[redacted]';

const secretName =
  /(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|_AUTH$|_PAT$|_DSN$)/i;
/** Names that match `secretName` but hold a path or an address, not a secret. */
const placeName = /(_FILE|_PATH|_DIR|_SOCK|_URL_PREFIX)$/i;

/** @param known Secrets that are in no variable, such as the agent's own token. */
export function createRedactor(known: readonly string[]): Redactor {
  const secrets = new Set<string>();
  let longestFirst: string[] = [];

  function add(value: string): void {
    // Output is redacted line by line, so each line of a multi-line key is a secret of its own.
    for (const line of value.split(/[\r\n]+/)) {
      const secret = line.trim();
      if (secret.length >= SECRET_CHARS_MIN) secrets.add(secret);
    }
  }

  function order(): void {
    longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  }

  for (const value of known) add(value);
  order();
  return {
    redact(text) {
      let clean = text;
      for (const secret of longestFirst) clean = clean.replaceAll(secret, PLACEHOLDER);
      return hideUrlCredentials(redactTokens(clean));
    },
    learn(env) {
      for (const [name, value] of Object.entries(env)) {
        if (value !== undefined && secretName.test(name) && !placeName.test(name)) add(value);
      }
      order();
    },
    longestChars: () => Math.max(TOKEN_CHARS_LONGEST, longestFirst[0]?.length ?? 0),
  };
}
