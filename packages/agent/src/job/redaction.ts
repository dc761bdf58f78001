import { redactTokens, tokenInTextPattern } from '@signalbox/contract';
import { hideUrlCredentials } from '../git/git.ts';
import { type VisibleText, visibleText } from './visible-text.ts';

/**
 * Redacts secrets in text that leaves the machine. It sees through escape sequences, invisible
 * characters and line ends, and knows the base64 and hexadecimal forms of a secret. It keeps
 * secrets from being published by accident; a tool that means to can always encode one in another
 * way.
 */
export interface Redactor {
  redact(text: string): string;
  /** Whether a text contains a secret that is known, in any of its forms. */
  finds(text: string): boolean;
  /** Adds the secrets of an environment (a hook may export some); earlier ones stay known. */
  learn(env: NodeJS.ProcessEnv): void;
  /**
   * The offset from which the end of a text may be the beginning of a secret; its length if it is
   * not. The rest is to be redacted together with what follows.
   *
   * @param isLine the text ends with a line: a few characters that begin a long secret may stay.
   */
  safeEnd(text: string, isLine: boolean): number;
}

/** Shorter values (`1`, `true`, `none`) are switches; redacting them would garble ordinary text. */
const SECRET_CHARS_MIN = 6;
/**
 * Fewer characters of a long secret end too many ordinary lines to hold all those back. So the rest
 * of a long secret counts as the secret.
 */
const BEGINNING_CHARS_MIN = 4;
/** A secret from this length on is long. */
const LONG_SECRET_CHARS = 12;
/** Length of a complete contract token. A part of a token cannot be recognized. */
const TOKEN_CHARS_LONGEST = 128;
const PLACEHOLDER = '[redacted]';

const secretName =
  /(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|_AUTH$|_PAT$|_DSN$)/i;
/** Names that match `secretName` but hold a path or an address, not a secret. */
const placeName = /(_FILE|_PATH|_DIR|_SOCK|_URL_PREFIX)$/i;
/** An assignment as in the output of `env`: a name in capitals, without spaces. */
const assignment = /\b([A-Z][A-Z0-9_]{2,80})=(["']?[^\s"']{6,}["']?)/g;
/** The end of a text that may be the beginning of a contract token. */
const tokenBeginning = /sbx_[dsj]_[0-9A-Za-z]*$/;

/** @param known Secrets that are in no variable, such as the agent's own token. */
export function createRedactor(known: readonly string[]): Redactor {
  const secrets = new Set<string>();
  /** Every form of every secret, the longest first. */
  let forms: string[] = [];

  function add(value: string): void {
    // Each line of a multi-line key is a secret of its own.
    for (const line of value.split(/[\r\n]+/)) {
      const secret = line.trim();
      if (secret.length >= SECRET_CHARS_MIN) secrets.add(secret);
    }
  }

  function order(): void {
    forms = [...new Set([...secrets].flatMap(formsOf))].sort((a, b) => b.length - a.length);
  }

  for (const value of known) add(value);
  order();
  return {
    redact(text) {
      const lines = replaceForms(text, forms).split('\n');
      const shown = redactTokens(lines.map(replaceSplitTokens).join('\n'));
      return hideUrlCredentials(hideAssignments(shown));
    },
    finds: (text) => findForms(visibleText(text).text, forms).length > 0,
    learn(env) {
      for (const [name, value] of Object.entries(env)) {
        if (value !== undefined && secretName.test(name) && !placeName.test(name)) add(value);
      }
      order();
    },
    safeEnd(text, isLine) {
      const visible = visibleText(text);
      const at = findBeginning(visible.text, forms, isLine);
      return at === null ? text.length : visible.offsetOf(at);
    },
  };
}

/**
 * Hides the values of variables with a secret name, as `env` prints them. Tools set some that the
 * agent has never seen, such as Claude Code's CLAUDE_CODE_MESSAGING_TOKEN.
 */
function hideAssignments(text: string): string {
  return text.replace(assignment, (whole, name: string, value: string) =>
    secretName.test(name) && !placeName.test(name) && !isReference(value)
      ? `${name}=${PLACEHOLDER}`
      : whole,
  );
}

/** Code that reads a variable, and what is hidden already. */
function isReference(value: string): boolean {
  return value.startsWith('$') || value.startsWith('[redacted]');
}

/** The secret itself and its encodings, as they stand within longer encoded texts. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const forms = [secret, bytes.toString('hex'), bytes.toString('hex').toUpperCase()];
  // Three bytes become four characters, so there are three alignments. The characters at either
  // end that also depend on the neighbours are left out.
  for (const before of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = shifted.subarray(0, shifted.length - (shifted.length % 3)).toString('base64');
    const form = whole.slice(Math.ceil((before * 4) / 3));
    forms.push(form, form.replaceAll('+', '-').replaceAll('/', '_'));
  }
  const long = forms.filter((form) => form.length >= LONG_SECRET_CHARS);
  const withoutBeginning = long.map((form) => form.slice(BEGINNING_CHARS_MIN - 1));
  return [...forms.filter((form) => form.length >= SECRET_CHARS_MIN), ...withoutBeginning];
}

function replaceForms(text: string, forms: readonly string[]): string {
  const visible = visibleText(text);
  return replaceRanges(text, visible, findForms(visible.text, forms));
}

/** Replaces ranges of the visible text, and everything invisible within them. */
function replaceRanges(text: string, visible: VisibleText, found: Found[]): string {
  if (found.length === 0) return text;
  const parts: string[] = [];
  let end = 0;
  for (const { start, length } of found.sort((a, b) => a.start - b.start)) {
    const from = visible.offsetOf(start);
    const to = visible.offsetOf(start + length - 1) + 1;
    if (from >= end) parts.push(text.slice(end, from), PLACEHOLDER);
    // Keeps what follows on a line of its own.
    if (from >= end && text.slice(from, to).includes('\n')) parts.push('\n');
    end = Math.max(end, to);
  }
  return parts.join('') + text.slice(end);
}

interface Found {
  start: number;
  length: number;
}

function findForms(text: string, forms: readonly string[]): Found[] {
  const found: Found[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
      found.push({ start: at, length: form.length });
    }
  }
  return found;
}

/**
 * Redacts tokens of the contract that something invisible splits within a line. A token shows its
 * kind where nothing splits it; over a line end, nothing tells where an unknown token ends.
 */
function replaceSplitTokens(line: string): string {
  const visible = visibleText(line);
  if (visible.text.length === line.length) return line;
  const found = [...visible.text.matchAll(tokenInTextPattern)];
  return replaceRanges(
    line,
    visible,
    found.map(({ index, 0: { length } }) => ({ start: index, length })),
  );
}

/** Finds the longest end of a text with which a form begins. */
function findBeginning(text: string, forms: readonly string[], isLine: boolean): number | null {
  let earliest: number | null = null;
  const consider = (at: number) => {
    if (earliest === null || at < earliest) earliest = at;
  };
  const token = isLine ? null : tokenBeginning.exec(text.slice(-TOKEN_CHARS_LONGEST));
  if (token !== null) consider(text.length - token[0].length);
  for (const form of forms) {
    const isLong = form.length >= LONG_SECRET_CHARS;
    const first = form.slice(0, isLine && isLong ? BEGINNING_CHARS_MIN : 1);
    const from = Math.max(0, text.length - form.length + 1);
    for (let at = text.indexOf(first, from); at >= 0; at = text.indexOf(first, at + 1)) {
      if (!form.startsWith(text.slice(at))) continue;
      consider(at);
      break;
    }
  }
  return earliest;
}
