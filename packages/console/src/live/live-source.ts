import type { Change } from '@signalbox/contract';

/** The state of the connection to the stream of changes. */
export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  /** `sinceMs`: when it was lost; `retryAtMs`: when the next attempt begins. */
  | { kind: 'lost'; sinceMs: number; retryAtMs: number };

export type LiveMessage =
  | { type: 'state'; state: LiveState }
  | { type: 'changes'; changes: readonly Change[] }
  /** Something may have been missed: read again what was read before this time. */
  | { type: 'reset' };

const RETRY_MS_MIN = 250;
/** Short at first, so that a hub that restarts is found within two seconds of its return. */
const RETRY_MS_MAX = 1_000;
/** After this time the hub is not just restarting or being upgraded. */
const LONG_AWAY_MS = 600_000;
const LONG_RETRY_MS_MAX = 10_000;

/** One stream of changes of a workspace, connected again after a pause whenever it breaks. */
export class LiveSource {
  readonly #url: string;
  readonly #emit: (message: LiveMessage) => void;
  #events: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #after: string;
  #attempt = 0;
  #lostAtMs: number | null = null;
  state: LiveState = { kind: 'connecting' };

  /** @param after the position to begin at: the client has read nothing before it. */
  constructor(url: string, after: string, emit: (message: LiveMessage) => void) {
    this.#url = url;
    this.#after = after;
    this.#emit = emit;
    this.#connect();
  }

  /** The position up to which all changes were emitted. */
  get position(): string {
    return this.#after;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#events?.close();
  }

  #connect(): void {
    const events = new EventSource(`${this.#url}&after=${encodeURIComponent(this.#after)}`);
    this.#events = events;
    const heard = (event: Event, reset: boolean) => {
      // The browser has an event `open` of its own, without data.
      if (!(event instanceof MessageEvent)) return;
      this.#after = event.lastEventId;
      this.#attempt = 0;
      this.#lostAtMs = null;
      if (reset) this.#emit({ type: 'reset' });
      if (this.state.kind !== 'live') this.#enter({ kind: 'live' });
    };
    events.addEventListener('open', (event) => heard(event, false));
    events.addEventListener('reset', (event) => heard(event, true));
    events.addEventListener('changes', (event) => {
      heard(event, false);
      // The stream's data follow ChangeMessage; the hub checks that in its tests.
      const { changes } = JSON.parse(event.data) as { changes: Change[] };
      this.#emit({ type: 'changes', changes });
    });
    events.addEventListener('error', (event) => {
      if (event instanceof MessageEvent) return;
      events.close();
      this.#retryLater();
    });
  }

  #retryLater(): void {
    const nowMs = Date.now();
    this.#lostAtMs ??= nowMs;
    const maxMs = nowMs - this.#lostAtMs > LONG_AWAY_MS ? LONG_RETRY_MS_MAX : RETRY_MS_MAX;
    const delayMs = Math.min(RETRY_MS_MIN * 2 ** this.#attempt, maxMs) * (0.5 + Math.random() / 2);
    this.#attempt = Math.min(this.#attempt + 1, 10);
    this.#enter({ kind: 'lost', sinceMs: this.#lostAtMs, retryAtMs: nowMs + delayMs });
    this.#timer = setTimeout(() => this.#connect(), delayMs);
  }

  #enter(state: LiveState): void {
    this.state = state;
    this.#emit({ type: 'state', state });
  }
}
