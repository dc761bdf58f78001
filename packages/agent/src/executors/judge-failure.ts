import { readResetTime } from './reset-time.ts';
import type { ToolFailure, ToolFailureCode } from './tool-failure.ts';

/** A limit of an account that the provider has told the tool as data. */
export interface ToldLimit {
  /** Such as `five_hour`, or `seven_day_opus` for one model. */
  type: string;
  resetsAtMs?: number;
}

/** A failure as a tool tells it, by its output or over ACP. */
export interface ToldFailure {
  /** For people. */
  sentence: string;
  /** The tool's own names of the failure, the most precise one first. */
  kinds?: readonly string[];
  /** The HTTP status of the provider's answer. */
  status?: number;
  /** The last limit of the account that was met, if the tool told one. */
  limit?: ToldLimit | null;
}

/** Claude Code's and Codex's own kinds of a failure. */
const kinds: ReadonlyMap<string, ToolFailureCode> = new Map(
  Object.entries({
    authentication_failed: 'not_logged_in',
    oauth_org_not_allowed: 'not_logged_in',
    verification_required: 'not_logged_in',
    cloud_credential_error: 'not_logged_in',
    unauthorized: 'not_logged_in',
    usage_limit_reached: 'usage_limit',
    billing_error: 'usage_limit',
    account_on_hold: 'usage_limit',
    usageLimitExceeded: 'usage_limit',
    error_max_budget_usd: 'budget_spent',
    budget_exhausted: 'budget_spent',
    error_max_turns: 'max_turns',
    max_turns: 'max_turns',
    prompt_too_long: 'context_too_long',
    contextWindowExceeded: 'context_too_long',
    max_output_tokens: 'output_limit',
    model_not_found: 'model_unknown',
    cyberPolicy: 'refused',
    server_error: 'provider_busy',
    overloaded: 'provider_busy',
    serverOverloaded: 'provider_busy',
    internalServerError: 'provider_busy',
    transport_lost: 'provider_busy',
  } as const),
);

/** The account's limit or the provider's: only the sentence tells which. */
const RATE_LIMIT_KINDS = ['rate_limit', 'rateLimitExceeded'];
/** Limits of one model, in data and in sentences. */
const limitOfModel = /^seven_day_(opus|sonnet|haiku)$/;
const sentenceOfModel = /your (opus|sonnet|haiku|fable) limit|usage limit for \S/i;

/** Sentences of the tools and their providers; the first kind that matches counts. */
const sentences: readonly (readonly [ToolFailureCode, readonly RegExp[]])[] = [
  [
    'not_logged_in',
    [
      /not logged in|please run \/login|invalid (x-)?api[ -]?key|unauthorized|authenticat/i,
      /missing environment variable/i,
    ],
  ],
  [
    'context_too_long',
    [/context window|context_length|prompt is too long|input exceeds|request too large/i],
  ],
  ['model_unknown', [/model\b.{0,80}\b(not exist|not found|not supported)|model_not_found/i]],
  ['budget_spent', [/maximum budget/i]],
  [
    'usage_limit',
    [
      /(?<!not your )usage limit|(weekly|session|hourly|daily|monthly|spend(ing)?|\d-hour) limit/i,
      /(hit|reached) your\b.{0,60}\blimit|limit\b.{0,10}\bresets\b/i,
      /quota|credit balance|billing|out of (usage|extra usage|usage credits|credits)\b/i,
    ],
  ],
  ['output_limit', [/max_output_tokens|output token/i]],
  ['refused', [/safeguards|content policy|safety classifier|(?<!connection |econn)refus/i]],
  [
    'provider_busy',
    [
      /rate limit|too many requests|overloaded|at capacity|high demand|temporar/i,
      /internal server error|service unavailable/i,
      /stream (disconnected|error|closed)|connection|econn|timed? ?out|network/i,
    ],
  ],
];

const namedStatus = /\b(?:status|http|api error|error code)\b[ :]{0,3}(?:code:? )?([45]\d\d)\b/i;
const statusWithWords =
  /\b(429|5\d\d) (?:too many|internal server|bad gateway|service unavailable|gateway time)/i;

const LOGIN_STATUSES = [401, 403];
const BUSY_STATUSES = [408, 429];
const STATUS_TOO_MANY = 429;
const STATUS_SERVER_MIN = 500;

/**
 * Judges a failure of a tool. All tools are judged here, whichever way they tell their failures.
 *
 * @param nowMs by the wall clock: tools tell when a limit is reset as a time of day.
 */
export function judgeFailure(told: ToldFailure, nowMs: number): ToolFailure {
  const { sentence: summary, limit } = told;
  const code = codeOf(told);
  if (code !== 'usage_limit') return { code, summary };
  const resetsAtMs = limit?.resetsAtMs ?? readResetTime(summary, nowMs);
  const isOfModel = limitOfModel.test(limit?.type ?? '') || sentenceOfModel.test(summary);
  return {
    code,
    summary,
    ...(resetsAtMs === undefined ? {} : { resetsAtMs }),
    ...(isOfModel ? { isOfModel } : {}),
  };
}

function codeOf({ sentence, kinds: own = [], status: told, limit }: ToldFailure): ToolFailureCode {
  const known = own.map((kind) => kinds.get(kind)).find((code) => code !== undefined);
  if (known !== undefined) return known;
  const status = told ?? statusOf(sentence);
  if (LOGIN_STATUSES.includes(status)) return 'not_logged_in';
  const bySentence = sentences.find(([, patterns]) => patterns.some((one) => one.test(sentence)));
  const isLimited =
    status === STATUS_TOO_MANY || own.some((kind) => RATE_LIMIT_KINDS.includes(kind));
  if (isLimited) {
    const isOfAccount = Boolean(limit) || bySentence?.[0] === 'usage_limit';
    return isOfAccount ? 'usage_limit' : 'provider_busy';
  }
  if (BUSY_STATUSES.includes(status) || status >= STATUS_SERVER_MIN) return 'provider_busy';
  return bySentence?.[0] ?? 'tool_error';
}

/** The HTTP status that a sentence names; 0 without one. */
function statusOf(sentence: string): number {
  const [, status] = namedStatus.exec(sentence) ?? statusWithWords.exec(sentence) ?? [];
  return Number(status ?? 0);
}
