import { CONTEXT_TEXT_CHARS_MAX, redactTokens } from '@signalbox/contract';

/** What a workspace allows to be kept (contract, section 9). */
export interface DataPolicy {
  contentStorage: 'full' | 'excerpt' | 'metadata';
  redactSecrets: boolean;
}

/** The fields of a piece of content that the policy is about; null: there is none. */
export interface PolicyContent {
  title: string;
  text: string;
  sourceRef: string | null;
  threadRef: string | null;
}

export interface PolicyResult extends PolicyContent {
  /** Whether less of the text is kept than there was. */
  truncated: boolean;
}

/** Characters of text that `excerpt` keeps: enough to tell what it is about. */
export const EXCERPT_CHARS = 1_000;
/** As in the contract's schema: a redacted name may be longer than it was. */
const TITLE_CHARS_MAX = 1_000;
const SOURCE_REF_CHARS_MAX = 2_000;
const THREAD_REF_CHARS_MAX = 1_000;
const REDACTED = '[redacted]';

/**
 * Applies a workspace's data policy. Everything that comes into the context store goes through it
 * before anything of it is written: what the policy keeps out is nowhere in the database, its
 * index or its log. Secrets go first, so that no excerpt ends within one. Names are redacted too;
 * equal names stay equal, so replacing by reference works as before.
 */
export function applyDataPolicy(policy: DataPolicy, content: PolicyContent): PolicyResult {
  const redact = policy.redactSecrets ? redactSecrets : (text: string) => text;
  const redactName = (name: string | null, charsMax: number) =>
    name === null ? null : cutText(redact(name), charsMax);
  const text = redact(content.text);
  const kept = keepOf(policy.contentStorage, text);
  return {
    title: cutText(redact(content.title), TITLE_CHARS_MAX),
    text: kept,
    sourceRef: redactName(content.sourceRef, SOURCE_REF_CHARS_MAX),
    threadRef: redactName(content.threadRef, THREAD_REF_CHARS_MAX),
    truncated: kept.length < text.length,
  };
}

function keepOf(storage: DataPolicy['contentStorage'], text: string): string {
  switch (storage) {
    case 'full':
      return cutText(text, CONTEXT_TEXT_CHARS_MAX);
    case 'excerpt':
      return cutText(text, EXCERPT_CHARS);
    case 'metadata':
      return '';
  }
}

/** The first characters of a text, never half of a surrogate pair. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const last = text.charCodeAt(charsMax - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHighSurrogate ? charsMax - 1 : charsMax);
}

/**
 * Forms of secrets that are told by their shape alone. Each pattern is linear: no part of one can
 * match the same characters in two ways. Lengths are those that the issuers document, or wider.
 */
const secretPatterns: readonly RegExp[] = [
  // Private keys in PEM, also cut off at the end of the text.
  /-----BEGIN [A-Z0-9 ]{0,60}PRIVATE KEY[A-Z ]{0,10}-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]+-----)?/g,
  // Amazon Web Services: access key ids. The secrets beside them have no form but their name.
  /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/g,
  // GitHub, classic and fine-grained.
  /\bgh[pousr]_[0-9A-Za-z]{30,255}/g,
  /\bgithub_pat_[0-9A-Za-z_]{30,255}/g,
  /\bglpat-[0-9A-Za-z_-]{20,255}/g,
  // Slack: tokens, and addresses that post without one.
  /\bx(?:ox[abeoprs]|app)-[0-9A-Za-z-]{10,255}/g,
  /\bhttps:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[0-9A-Za-z/_-]{10,255}/g,
  // Anthropic, OpenAI and those who took their form.
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

/** Those of which a part tells where the secret was: it stays, the secret goes. */
const namedPatterns: readonly RegExp[] = [
  // user:password@ in an address.
  /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@]{0,200}:)[^\s/?#@]{1,500}(?=@)/gi,
  // Authorization headers.
  /(\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s{1,3})[0-9A-Za-z+/=_.~-]{8,4000}/gi,
  // password = …, "apiKey": "…", AWS_SECRET_ACCESS_KEY=…: a name that says secret, and a value.
  // After a colon prose may follow, so there the value must look like more than a word.
  /((?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key|(?:auth|access|refresh)[_-]?token)["']?\s{0,3}[:=]\s{0,3}["'])[^"'\r\n]{6,500}(?=["'])/gi,
  /((?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key|(?:auth|access|refresh)[_-]?token)\s{0,3}=\s{0,3})[^\s"',;&<>[\]]{6,500}/gi,
  /((?:[Pp]assword|[Pp]asswd|[Pp]assphrase|[Ss]ecret|[Kk]ey|[Tt]oken|PASSWORD|SECRET|KEY|TOKEN)\s{0,3}:\s{0,3})(?=[a-z]{0,500}[0-9A-Z!#$%^*+/=~_-])[^\s"',;&<>[\]]{8,500}/g,
];

/**
 * Takes secrets out of a text: our own tokens, keys of well-known forms, credentials in addresses
 * and headers, and values whose name says that they are secret. What has neither a form nor such
 * a name is not found.
 */
export function redactSecrets(text: string): string {
  let clean = redactTokens(text);
  for (const pattern of secretPatterns) clean = clean.replace(pattern, REDACTED);
  for (const pattern of namedPatterns) clean = clean.replace(pattern, `$1${REDACTED}`);
  return clean;
}
