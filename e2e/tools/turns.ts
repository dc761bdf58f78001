/** Tokens that the scripted model says it has spent on one answer. */
export interface Spent {
  /** Input that was not cached. */
  input: number;
  output: number;
  /** Input that was read from a cache. */
  cached: number;
  /** Input that was written to a cache; only Anthropic's wire has it. */
  written: number;
}

/** An action that the model asks of the tool; every wire translates it. */
export type Call =
  | { tool: 'shell'; command: string }
  | { tool: 'write'; path: string; text: string }
  /** Writes the result file that the prompt names. */
  | { tool: 'result'; json: object }
  /** By the tool's own name and input; Codex names tools of an MCP server within its namespace. */
  | { tool: 'native'; name: string; input: object; namespace?: string };

/** One answer of the scripted model. */
export type Turn =
  | {
      kind: 'answer';
      text: string;
      calls: readonly Call[];
      stop: 'end' | 'max_tokens' | 'refusal';
      spent: Spent;
    }
  /** An HTTP error; `times` requests in a row get it. */
  | {
      kind: 'fail';
      status: number;
      error: { type: string; message: string; code?: string };
      headers: Readonly<Record<string, string>>;
      times: number;
    }
  /** The limit of an account: an HTTP error from the first request on, until it is reset. */
  | { kind: 'limit'; account: LimitedAccount }
  /** Begins an answer and closes the connection; `times` requests in a row get that. */
  | { kind: 'drop'; times: number }
  /** Never answers. */
  | { kind: 'hang' };

/** An account that meets the limit of its session; shared by all scenarios that use it. */
export interface LimitedAccount {
  /** From the first request on. */
  lastsMs: number;
  /** Set by the first request. */
  resetsAtMs: number | null;
  /** How many requests it has refused. */
  refused: number;
}

const usual: Spent = { input: 100, output: 10, cached: 0, written: 0 };

interface AnswerOptions {
  spent?: Partial<Spent>;
  stop?: 'end' | 'max_tokens' | 'refusal';
}

/** The model ends its turn with a text. */
export function say(text: string, { spent, stop = 'end' }: AnswerOptions = {}): Turn {
  return { kind: 'answer', text, calls: [], stop, spent: { ...usual, ...spent } };
}

/** The model uses tools, all at once, and continues after their results. */
export function use(calls: Call | readonly Call[], { spent }: AnswerOptions = {}): Turn {
  const all = Array.isArray(calls) ? (calls as readonly Call[]) : [calls as Call];
  return { kind: 'answer', text: '', calls: all, stop: 'end', spent: { ...usual, ...spent } };
}

export function shell(command: string, options?: AnswerOptions): Turn {
  return use({ tool: 'shell', command }, options);
}

/** @param path relative to the tool's working directory. */
export function write(path: string, text: string, options?: AnswerOptions): Turn {
  return use({ tool: 'write', path, text }, options);
}

/** A call by the tool's own name, such as Claude's `Task`. */
export function native(name: string, input: object, options?: AnswerOptions): Turn {
  return use({ tool: 'native', name, input }, options);
}

export function fail(
  status: number,
  message: string,
  options: {
    type?: string;
    code?: string;
    headers?: Readonly<Record<string, string>>;
    times?: number;
  } = {},
): Turn {
  const { type = 'api_error', code, headers = {}, times = Number.POSITIVE_INFINITY } = options;
  const error = { type, message, ...(code === undefined ? {} : { code }) };
  return { kind: 'fail', status, error, headers, times };
}

export function drop(times = Number.POSITIVE_INFINITY): Turn {
  return { kind: 'drop', times };
}

export function hang(): Turn {
  return { kind: 'hang' };
}

export function limitedAccount(lastsMs: number): LimitedAccount {
  return { lastsMs, resetsAtMs: null, refused: 0 };
}

/** The account has met its limit; after the reset, the next turn is given. */
export function limit(account: LimitedAccount): Turn {
  return { kind: 'limit', account };
}
