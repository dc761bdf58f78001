/** How a coding tool failed, in the words of every tool. */
export interface ToolFailure {
  code: ToolFailureCode;
  summary: string;
  /** Another attempt after this time may succeed. Absent: the code alone says so. */
  retryMs?: number;
  /** When the limit is reset, by the wall clock, if the tool said so. */
  resetsAtMs?: number;
  /** The limit is of the model that the job used. Other models of the account may still answer. */
  isOfModel?: true;
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
  /** The job has cost more than its budget. */
  | 'budget_spent'
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
  /** An unknown failure. */
  | 'tool_error';

/** Says how a failure that may pass is handled. */
export interface FailureRule {
  category: 'provider' | 'execution';
  /** False: the attempt does not count, because the tool could not work. */
  spendsAttempt: boolean;
  /** The failure is final when it has ended this many attempts of a job. Absent: it never is. */
  occurrencesMax?: number;
  /** The first pause of claims for this account; doubles with each failure in a row. */
  pauseMs: number;
  pauseMsMax: number;
  /**
   * The job waits longer than the claims, so that the first claim after the pause takes another
   * job. False: another agent, with another account, may take it at once.
   */
  delaysJob: boolean;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Not known to be about the job: it is tried again, and is final when it was seen three times. */
const unknown: FailureRule = {
  category: 'execution',
  spendsAttempt: true,
  occurrencesMax: 3,
  pauseMs: 15 * SECOND_MS,
  pauseMsMax: 10 * MINUTE_MS,
  delaysJob: true,
};

/**
 * Failures after which the job returns to the queue, and the agent claims nothing for the same
 * account for a while. All others are final.
 */
export const passingFailures: Readonly<Partial<Record<ToolFailureCode, FailureRule>>> = {
  // A job must not fail because its provider is down for a night, so no attempt is spent.
  provider_busy: {
    category: 'provider',
    spendsAttempt: false,
    delaysJob: true,
    pauseMs: 15 * SECOND_MS,
    pauseMsMax: 10 * MINUTE_MS,
  },
  usage_limit: {
    category: 'provider',
    spendsAttempt: false,
    delaysJob: false,
    pauseMs: 5 * MINUTE_MS,
    pauseMsMax: 30 * MINUTE_MS,
  },
  not_logged_in: {
    category: 'provider',
    spendsAttempt: false,
    delaysJob: false,
    pauseMs: MINUTE_MS,
    pauseMsMax: 10 * MINUTE_MS,
  },
  tool_error: unknown,
  no_result: unknown,
  stop_reason_unknown: unknown,
};
