/**
 * Secrets that are recognized by their format alone. Lengths are those that the issuers document,
 * or wider.
 *
 * Each pattern runs in linear time: where a long part may be followed by something required, either
 * the part cannot contain another start of the pattern, or the pattern starts only once in a run of
 * the part's characters. Otherwise a text of nothing but starts would be scanned from each of them.
 * A test of the hub tries every pattern after every separator.
 */
export const secretPatterns: readonly RegExp[] = [
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
];
