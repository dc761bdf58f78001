import { CONTEXT_TEXT_CHARS_MAX, redactTokens } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import { assert } from '../errors.ts';
import { readWorkspace } from '../workspaces/store.ts';

/** The content that a workspace allows to be stored. */
export interface DataPolicy {
  contentStorage: 'full' | 'excerpt' | 'metadata';
  redactSecrets: boolean;
}

/** The fields that the policy applies to. Null for an absent reference. */
export interface PolicyContent {
  title: string;
  text: string;
  sourceRef: string | null;
  threadRef: string | null;
}

export interface PolicyResult extends PolicyContent {
  /** Whether the policy shortened the text. */
  truncated: boolean;
}

/** Characters of text that `excerpt` keeps: enough to recognize the subject. */
export const EXCERPT_CHARS = 1_000;
/** The contract's limits, applied again because redaction may lengthen a text. */
const TITLE_CHARS_MAX = 1_000;
const SOURCE_REF_CHARS_MAX = 2_000;
const THREAD_REF_CHARS_MAX = 1_000;
const REDACTED = '[redacted]';

/** Reads the policy of a workspace that is known to exist. */
export async function readDataPolicy(reader: Reader, workspaceId: string): Promise<DataPolicy> {
  const row = await readWorkspace(reader, workspaceId);
  assert(row !== undefined, 'the workspace of an authorized operation exists');
  return { contentStorage: row.content_storage, redactSecrets: row.redact_secrets === 1 };
}

/**
 * Applies a workspace's data policy. All content passes through it before it is written, so text
 * that the policy excludes reaches neither the database nor its index or log. Secrets are redacted
 * before the text is cut, so that no excerpt ends inside a secret. References are redacted too;
 * equal references stay equal, so replacing an item by its reference still works.
 */
export function applyDataPolicy(policy: DataPolicy, content: PolicyContent): PolicyResult {
  const redact = policy.redactSecrets ? redactSecrets : (text: string) => text;
  const redactName = (name: string | null, charsMax: number) =>
    name === null ? null : cutText(redact(name), charsMax);
  const text = redact(content.text);
  const kept = cutByStorage(policy.contentStorage, text);
  return {
    title: cutText(redact(content.title), TITLE_CHARS_MAX),
    text: kept,
    sourceRef: redactName(content.sourceRef, SOURCE_REF_CHARS_MAX),
    threadRef: redactName(content.threadRef, THREAD_REF_CHARS_MAX),
    truncated: kept.length < text.length,
  };
}

function cutByStorage(storage: DataPolicy['contentStorage'], text: string): string {
  switch (storage) {
    case 'full':
      return cutText(text, CONTEXT_TEXT_CHARS_MAX);
    case 'excerpt':
      return cutText(text, EXCERPT_CHARS);
    case 'metadata':
      return '';
  }
}

/** Cuts a text to a number of characters, without splitting a surrogate pair. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const last = text.charCodeAt(charsMax - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHighSurrogate ? charsMax - 1 : charsMax);
}

/**
 * Secrets that are recognized by their format alone. Each pattern runs in linear time: no two parts
 * of one can match the same characters. Lengths are those that the issuers document, or wider.
 */
const secretPatterns: readonly RegExp[] = [
  // Private keys in PEM, including one that is cut off at the end of the text.
  /-----BEGIN [A-Z0-9 ]{0,60}PRIVATE KEY[A-Z ]{0,10}-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]+-----)?/g,
  // Amazon Web Services: access key ids. Their secret keys are recognized only by a name.
  /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/g,
  // GitHub, classic and fine-grained.
  /\bgh[pousr]_[0-9A-Za-z]{30,255}/g,
  /\bgithub_pat_[0-9A-Za-z_]{30,255}/g,
  /\bglpat-[0-9A-Za-z_-]{20,255}/g,
  // Slack: tokens, and webhook URLs that post without one.
  /\bx(?:ox[abeoprs]|app)-[0-9A-Za-z-]{10,255}/g,
  /\bhttps:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[0-9A-Za-z/_-]{10,255}/g,
  // Anthropic, OpenAI, and issuers that use the same format.
  /\bsk-[0-9A-Za-z_-]{20,255}/g,
  // Stripe.
  /\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,255}/g,
  /\bwhsec_[0-9A-Za-z+/=]{20,255}/g,
  // Google: API keys and OAuth tokens.
  /\bAIza[0-9A-Za-z_-]{35}/g,
  /\bya29\.[0-9A-Za-z_.-]{20,1000}/g,
  /\bGOCSPX-[0-9A-Za-z_-]{20,60}/g,
  // Package registries, Hugging Face, SendGrid, DigitalOcean, Telegram bots.
  /\bnpm_[0-9A-Za-z]{30,255}/g,
  /\bpypi-[0-9A-Za-z_-]{40,500}/g,
  /\bhf_[0-9A-Za-z]{30,255}/g,
  /\bSG\.[0-9A-Za-z_-]{16,40}\.[0-9A-Za-z_-]{16,80}/g,
  /\bdo[oprt]_v1_[0-9a-f]{40,100}/g,
  /\b[0-9]{8,10}:AA[0-9A-Za-z_-]{32,34}/g,
  // JSON web tokens: header and payload are JSON objects in base64url.
  /\beyJ[0-9A-Za-z_-]{10,4000}\.eyJ[0-9A-Za-z_-]{10,8000}\.[0-9A-Za-z_-]{0,2000}/g,
];

/** Secrets that follow a name. The name is kept, the secret is replaced. */
const namedPatterns: readonly RegExp[] = [
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
