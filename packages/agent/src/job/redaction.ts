import { redactTokens, tokenInTextPattern } from '@signalbox/contract';
import { secretPatterns } from '@signalbox/contract/secret-formats';
import { hideUrlCredentials } from '../git/git.ts';
import {
  entityView,
  percentView,
  type TextView,
  unquotedView,
  unspacedView,
  type ViewKind,
  viewOf,
  visibleText,
  withoutQuotes,
} from './visible-text.ts';

/**
 * Redacts secrets in text that leaves the machine. It sees through escape sequences, invisible
 * characters, line ends, blanks, quoting and the encodings of addresses and HTML, and knows the
 * base64 and hexadecimal forms of a secret. Keys of well-known formats are redacted, too. It keeps
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
/** Longer than most keys of the well-known formats. A part of one cannot be recognized. */
const KEY_CHARS_LONGEST = 300;
/** Longer than the PEM of an RSA key of 4,096 bits. */
const PEM_CHARS_LONGEST = 4_000;
const PLACEHOLDER = '[redacted]';

const secretName =
  /(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|_AUTH$|_PAT$|_DSN$)/i;
/** Names that match `secretName` but hold a path or an address, not a secret. */
const placeName = /(_FILE|_PATH|_DIR|_SOCK|_URL_PREFIX)$/i;
/** An assignment as in the output of `env`: a name in capitals, without spaces. */
const assignment = /\b([A-Z][A-Z0-9_]{2,80})=(["']?[^\s"']{6,}["']?)/g;
/** The end of a text that may be the beginning of a key, or of a token of the contract. */
const keyBeginning = /[\w.+/=:-]+$/;
const pemBeginning = '-----BEGIN ';
const pemEnd = '-----END ';

/** @param known Secrets that are in no variable, such as the agent's own token. */
export function createRedactor(known: readonly string[]): Redactor {
  const secrets = new Set<string>();
  /** Every form of every secret, the longest first. */
  let forms: string[] = [];
  /** The forms to look for where a text is read in another way. */
  let disguises: Disguise[] = [];

  function add(value: string): void {
    // Each line of a multi-line key is a secret of its own.
    for (const line of value.split(/[\r\n]+/)) {
      const secret = line.trim();
      if (secret.length >= SECRET_CHARS_MIN) secrets.add(secret);
    }
  }

  function order(): void {
    forms = [...new Set([...secrets].flatMap(formsOf))].sort((a, b) => b.length - a.length);
    disguises = disguisesOf([...secrets], forms);
  }

  for (const value of known) add(value);
  order();
  return {
    redact(text) {
      let clean = replaceForms(text, visibleText(text), forms);
      for (const { kind, sign, forms: others } of disguises) {
        if (sign.test(clean)) clean = replaceForms(clean, viewOf(clean, kind), others);
      }
      const lines = redactFormats(clean).split('\n');
      const shown = redactTokens(lines.map(replaceSplitTokens).join('\n'));
      return hideUrlCredentials(hideAssignments(shown));
    },
    finds(text) {
      if (hasForm(visibleText(text).text, forms)) return true;
      return disguises.some(
        ({ kind, sign, forms: others }) =>
          sign.test(text) && hasForm(viewOf(text, kind).text, others),
      );
    },
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

/** Another way to read a text, what a text has that is to be read so, and the forms in it. */
interface Disguise {
  kind: ViewKind;
  sign: RegExp;
  forms: readonly string[];
}

function disguisesOf(secrets: readonly string[], forms: readonly string[]): Disguise[] {
  const long = (texts: readonly string[], charsMin: number) => [
    ...new Set(texts.filter((text) => text.length >= charsMin)),
  ];
  const plused = secrets.map((secret) => secret.replaceAll(' ', '+'));
  const unspaced = forms.map((form) => form.replaceAll(/\s/g, ''));
  return [
    { kind: percentView, sign: /%/, forms: long([...secrets, ...plused], SECRET_CHARS_MIN) },
    { kind: entityView, sign: /&/, forms: long(secrets, SECRET_CHARS_MIN) },
    {
      kind: unquotedView,
      sign: /[\\'"]/,
      forms: long(secrets.map(withoutQuotes), SECRET_CHARS_MIN),
    },
    // Ordinary words contain a short secret once they stand without blanks.
    { kind: unspacedView, sign: /[ \t:\n]/, forms: long(unspaced, LONG_SECRET_CHARS) },
  ];
}

/** Redacts keys of well-known formats, as the hub does in what people send it. */
function redactFormats(text: string): string {
  let clean = text;
  for (const pattern of secretPatterns) clean = clean.replace(pattern, PLACEHOLDER);
  return clean;
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

function replaceForms(text: string, view: TextView, forms: readonly string[]): string {
  return replaceRanges(text, view, findForms(view.text, forms));
}

function hasForm(text: string, forms: readonly string[]): boolean {
  return forms.some((form) => text.includes(form));
}

/** Replaces ranges of a view, and everything within them that it does not show. */
function replaceRanges(text: string, view: TextView, found: Found[]): string {
  if (found.length === 0) return text;
  const parts: string[] = [];
  let end = 0;
  for (const { start, length } of found.sort((a, b) => a.start - b.start)) {
    const from = view.offsetOf(start);
    const to = view.endOf(start + length - 1);
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
  const found = [tokenInTextPattern, ...secretPatterns].flatMap((pattern) => [
    ...visible.text.matchAll(pattern),
  ]);
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
  const key = isLine ? null : keyBeginning.exec(text.slice(-KEY_CHARS_LONGEST));
  if (key !== null) consider(text.length - key[0].length);
  const pem = text.lastIndexOf(pemBeginning);
  const isOpen = pem >= 0 && text.length - pem < PEM_CHARS_LONGEST && !text.includes(pemEnd, pem);
  if (isOpen) consider(pem);
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
  return earliest === null ? null : keyStart(text, earliest);
}

/** The beginning of the key that would be divided there: half a key is of no known format. */
function keyStart(text: string, at: number): number {
  const before = keyBeginning.exec(text.slice(Math.max(0, at - KEY_CHARS_LONGEST), at));
  return at - (before?.[0].length ?? 0);
}
