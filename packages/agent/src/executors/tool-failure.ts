/** How a coding tool failed, in the words of every tool. */
export interface ToolFailure {
  code: ToolFailureCode;
  summary: string;
  /** Another attempt after this time may succeed. Absent: it would fail alike. */
  retryMs?: number;
}

export type ToolFailureCode =
  /** The model's provider does not answer now: overloaded, rate limited, a broken connection. */
  | 'provider_busy'
  /** The account may not use the model until a limit is reset, or somebody pays. */
  | 'usage_limit'
  /** The provider does not accept the tool's login or key. */
  | 'not_logged_in'
  | 'model_unknown'
  /** The model refused the job. */
  | 'refused'
  | 'max_turns'
  | 'output_limit'
  | 'context_too_long'
  /** The tool ended without asking the model: it took the prompt for a command of its own. */
  | 'no_model_call'
  | 'no_result'
  /** A person or a rule refused a permission, and the tool ended its work. */
  | 'permission_refused'
  | 'turn_canceled'
  | 'stop_reason_unknown'
  /** The tool does not have the model, mode or effort that was asked for. */
  | 'setting_unknown'
  | 'protocol_unsupported'
  | 'message_too_large'
  | 'tool_silent'
  | 'tool_crashed'
  | 'tool_error';

/** Says how a tool's failure is handled. */
export interface FailureRule {
  /** False: the attempt does not count, because the tool could not begin. */
  spendsAttempt: boolean;
  /** The first pause of the agent; doubles with each failure in a row. */
  pauseMs: number;
  pauseMsMax: number;
}

const MINUTE_MS = 60_000;

/**
 * Failures that are about the provider and not about the job: the job returns to the queue, and the
 * agent claims nothing for a while. All others are final.
 */
export const providerFailures: Readonly<Record<string, FailureRule>> = {
  // Counts as an attempt: a job whose content breaks the provider would otherwise run for ever.
  provider_busy: { spendsAttempt: true, pauseMs: 15_000, pauseMsMax: 10 * MINUTE_MS },
  usage_limit: { spendsAttempt: false, pauseMs: 5 * MINUTE_MS, pauseMsMax: 30 * MINUTE_MS },
  not_logged_in: { spendsAttempt: false, pauseMs: MINUTE_MS, pauseMsMax: 10 * MINUTE_MS },
};

/** Sentences of the tools and their providers; the first kind that matches counts. */
const sentences: readonly (readonly [ToolFailureCode, readonly RegExp[]])[] = [
  [
    'not_logged_in',
    [
      /not logged in|please run \/login|invalid (x-)?api[ -]?key|unauthorized|authenticat/i,
      /status:? (401|403)\b|missing environment variable/i,
    ],
  ],
  ['context_too_long', [/context window|context_length|prompt is too long|input exceeds/i]],
  ['model_unknown', [/model\b.{0,80}\b(not exist|not found|not supported)|model_not_found/i]],
  [
    'usage_limit',
    [
      /usage limit|(weekly|session|hourly|daily|monthly|spend(ing)?|\d-hour) limit/i,
      /quota|credit balance|billing/i,
    ],
  ],
  ['output_limit', [/max_output_tokens|output token/i]],
  ['refused', [/safeguards|content policy|safety classifier|refus/i]],
  [
    'provider_busy',
    [
      /rate limit|too many requests|overloaded|at capacity|high demand|temporar/i,
      /status:? (408|429|5\d\d)\b|internal server error|service unavailable/i,
      /stream (disconnected|error|closed)|connection|timed? ?out|network/i,
    ],
  ],
];

/** Reads the kind of a failure from a sentence of a tool. */
export function judgeSentence(sentence: string): ToolFailureCode {
  const found = sentences.find(([, patterns]) => patterns.some((each) => each.test(sentence)));
  return found?.[0] ?? 'tool_error';
}
