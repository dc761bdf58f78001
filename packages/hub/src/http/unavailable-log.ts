import type { FastifyBaseLogger } from 'fastify';

/** While an outage lasts, one line in this time. */
const LINE_INTERVAL_MS = 10_000;

/**
 * Logs refusals with 503: a line when they begin and then one each 10 s with their number. In an
 * outage every request is refused, and a stack for each would hide everything else in the log.
 */
export class UnavailableLog {
  #count = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  add(log: FastifyBaseLogger, reqId: string, refusal: Error): void {
    this.#count += 1;
    const nowMs = this.#nowMs();
    if (nowMs - this.#loggedAtMs < LINE_INTERVAL_MS) return;
    const { cause } = refusal;
    const reason = cause instanceof Error ? cause.message : undefined;
    log.error({ reqId, reason, refused: this.#count }, refusal.message);
    this.#loggedAtMs = nowMs;
    this.#count = 0;
  }
}
