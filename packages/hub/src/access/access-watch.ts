import type { Scope } from '@signalbox/contract';
import type { Clock } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { WaitingCaller } from '../http/gatekeeper.ts';

/** Reads what each principal may do now: the principal as it is now, or why it was refused. */
type AccessReader = (principals: readonly Principal[]) => Promise<(Principal | HubError)[]>;

interface Watched extends WaitingCaller {
  cancelTimer: () => void;
}

/** A wait is checked at least this often. It also keeps timers within the range of 32 bits. */
const CHECK_AGAIN_MS = 60 * 60 * 1_000;
const RETRY_MS = 500;

/**
 * Ends requests that wait when their caller loses access: a token is revoked or expires, a person
 * leaves the workspace or gets another role, a lease ends. Every wait of a request is watched
 * (`RequestContext.signal`), and an idle wait costs no query.
 */
export class AccessWatch {
  readonly #clock: Clock;
  readonly #readAccess: AccessReader;
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Set<Watched>();
  #version = 0;
  #running: Promise<void> | null = null;

  constructor(clock: Clock, readAccess: AccessReader, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#readAccess = readAccess;
    this.#onError = onError;
  }

  /** Rises with every change of access. Read it before authenticating, and pass it to `watch`. */
  get version(): number {
    return this.#version;
  }

  get count(): number {
    return this.#watched.size;
  }

  /**
   * Watches a caller until the returned function is called.
   *
   * @param since the version from before the caller was authenticated: a change after it is not
   *   missed.
   */
  watch(caller: WaitingCaller, since: number): () => void {
    const watched: Watched = { ...caller, cancelTimer: () => undefined };
    this.#watched.add(watched);
    this.#arm(watched, caller.principal);
    if (since !== this.#version) this.#run();
    return () => {
      this.#watched.delete(watched);
      watched.cancelTimer();
    };
  }

  /** Call it when tokens, memberships or sessions have changed, here or on another hub. */
  changed(): void {
    this.#version += 1;
    this.#run();
  }

  /** Reads the access of all who wait, and ends the waits of those who have lost it. */
  async check(): Promise<void> {
    const all = [...this.#watched];
    if (all.length === 0) return;
    const now = await this.#readAccess(all.map(({ principal }) => principal));
    all.forEach((watched, at) => {
      const access = now[at];
      if (access === undefined || !this.#watched.has(watched)) return;
      const refusal = access instanceof HubError ? access : refusalOf(access, watched.scopes);
      if (refusal === null && !(access instanceof HubError)) this.#arm(watched, access);
      if (refusal !== null) watched.end(refusal);
    });
  }

  /** Runs a check, and one more for each change during it. */
  #run(): void {
    if (this.#running !== null || this.#watched.size === 0) return;
    const version = this.#version;
    this.#running = this.check()
      .then(
        () => 0,
        (error: unknown) => {
          this.#onError(error);
          return RETRY_MS;
        },
      )
      .then((delayMs) => {
        this.#running = null;
        if (delayMs > 0) this.#clock.schedule(delayMs, () => this.#run());
        else if (version !== this.#version) this.#run();
      });
  }

  /** Checks again when the principal expires, unless its expiry was extended meanwhile. */
  #arm(watched: Watched, { expiresAtMs }: Principal): void {
    watched.cancelTimer();
    if (expiresAtMs === null) return;
    const delayMs = Math.max(expiresAtMs - this.#clock.nowMs(), 0);
    watched.cancelTimer = this.#clock.schedule(Math.min(delayMs, CHECK_AGAIN_MS), () =>
      this.changed(),
    );
  }
}

function refusalOf({ scopes: held }: Principal, needed: readonly Scope[]): HubError | null {
  if (needed.length === 0 || needed.some((scope) => held.has(scope))) return null;
  return new HubError('NOT_ALLOWED', 'The role of the caller no longer allows this call.');
}
