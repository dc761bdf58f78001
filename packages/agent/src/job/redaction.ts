import { redactTokens } from '@signalbox/contract';
import { hideUrlCredentials } from '../git/git.ts';

/** Replaces secrets in text that leaves the machine. */
export interface Redactor {
  redact(text: string): string;
  /** A hook may export further secrets; what is known stays known. */
  learn(env: NodeJS.ProcessEnv): void;
  /** Characters of the longest secret: text cut closer than this may split one. */
  longestChars(): number;
}

/** Shorter values (`1`, `true`, `none`) are switches, and would tear holes into ordinary text. */
const SECRET_CHARS_MIN = 6;
/** A token of the contract in full; redacting a part of one is not possible. */
const TOKEN_CHARS_LONGEST = 128;
const PLACEHOLDER = '[redacted]';

const secretName =
  /(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|_AUTH$|_PAT$|_DSN$)/i;
/** Names that look secret but hold a place, not a secret. */
const placeName = /(_FILE|_PATH|_DIR|_SOCK|_URL_PREFIX)$/i;

/** @param known Secrets that are in no variable, such as the agent's own token. */
export function createRedactor(known: readonly string[]): Redactor {
  const secrets = new Set<string>();
  let longestFirst: string[] = [];

  function add(value: string): void {
    // Output is redacted by lines, so a key of several lines is recognized by each of them.
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
