import type { SlackError, WebClient } from '@slack/web-api';
import type { SlackApp } from '../start/setting-values.ts';
import type { Delivery } from './deliver.ts';

const CALL_MS_MAX = 10_000;

/** The part of a log that the libraries of Slack write to. */
export interface SlackLog {
  warn(message: string): void;
}

/** The Web API of Slack, with the hub's app. */
export class SlackApi {
  readonly app: SlackApp;
  readonly #log: SlackLog;
  readonly #stop: AbortSignal;
  #client: Promise<WebClient> | null = null;

  /** @param stop ends the calls on their way. */
  constructor(app: SlackApp, log: SlackLog, stop: AbortSignal) {
    this.app = app;
    this.#log = log;
    this.#stop = stop;
  }

  /** Loaded on first use: most hubs have no app of Slack. */
  client(): Promise<WebClient> {
    this.#client ??= this.#load();
    return this.#client;
  }

  async #load(): Promise<WebClient> {
    const { WebClient } = await import('@slack/web-api');
    return new WebClient(this.app.botToken, this.options());
  }

  /**
   * The outbox retries, not the library.
   *
   * @param stop ends the calls on their way.
   */
  options(stop = this.#stop) {
    const { apiUrl: slackApiUrl } = this.app;
    return {
      slackApiUrl,
      timeout: CALL_MS_MAX,
      logger: loggerTo(this.#log),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
      fetch: (url: string | URL, { signal, ...init }: RequestInit = {}) => {
        const signals = signal == null ? [stop] : [stop, signal];
        return fetch(url, { ...init, signal: AbortSignal.any(signals) });
      },
    };
  }
}

/** Their notes for programmers are left out: some have the texts of messages. */
function loggerTo(log: SlackLog) {
  const note = (...parts: unknown[]) => log.warn(`Slack: ${parts.map(String).join(' ')}`);
  return {
    debug() {},
    info() {},
    warn: note,
    error: note,
    setLevel() {},
    getLevel: () => 'warn' as never,
    setName() {},
  };
}

/** Slack's names for what the hub's operator corrects. Until then, messages wait. */
const operatorErrors: Readonly<Record<string, string>> = {
  invalid_auth: 'corrects SVC_SLACK_BOT_TOKEN',
  not_authed: 'corrects SVC_SLACK_BOT_TOKEN',
  token_revoked: 'installs the app again',
  token_expired: 'installs the app again',
  account_inactive: 'installs the app again',
  missing_scope: 'gives the app the scopes of the guide',
  team_access_not_granted: 'installs the app in your team',
  org_login_required: 'installs the app in your team',
  messages_tab_disabled: 'turns on the messages of the app (App Home)',
};
/** Slack's names for a receiver that is gone, and what its person does. */
const goneErrors: Readonly<Record<string, string>> = {
  user_not_found: 'connect your account again',
  user_disabled: 'your account of Slack was closed',
  users_not_found: 'connect your account again',
  channel_not_found: 'connect your account again',
  is_archived: 'connect your account again',
  cannot_dm_bot: 'connect an account of a person',
};
const laterErrors = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'ratelimited',
]);
const MS_PER_SECOND = 1_000;
const RETRY_AFTER_MS_MAX = 60 * 60_000;
/** Of an error of Slack. */
const NAME_CHARS_MAX = 60;

/** Judges what a failed call means for a message. */
export function judgeSlack(error: unknown): Exclude<Delivery, { kind: 'delivered' }> {
  // Errors of the library have a code; it is not loaded here.
  const failed = error as Partial<SlackError> & {
    data?: { error: string };
    retryAfter?: number;
    statusCode?: number;
  };
  if (failed.retryAfter !== undefined) {
    const afterMs = Math.min(failed.retryAfter * MS_PER_SECOND, RETRY_AFTER_MS_MAX);
    return { kind: 'again', failure: 'Slack takes no more messages for a while.', afterMs };
  }
  if (failed.data !== undefined) {
    const name = failed.data.error.replaceAll(/[^\w.-]/g, ' ').slice(0, NAME_CHARS_MAX);
    const deed = operatorErrors[name];
    if (deed !== undefined) {
      const failure = `Slack refuses the hub (${name}). Its operator ${deed}.`;
      return { kind: 'again', failure, afterMs: 0 };
    }
    const advice = goneErrors[name];
    if (advice !== undefined) {
      return { kind: 'gone', failure: `Slack refuses the message (${name}): ${advice}.` };
    }
    const failure = `Slack refuses the message (${name}).`;
    return laterErrors.has(name)
      ? { kind: 'again', failure, afterMs: 0 }
      : { kind: 'refused', failure };
  }
  const { statusCode, code, name } = failed;
  const reason = statusCode === undefined ? (code ?? name ?? 'no answer') : `status ${statusCode}`;
  return { kind: 'again', failure: `No answer of Slack (${reason}).`, afterMs: 0 };
}
