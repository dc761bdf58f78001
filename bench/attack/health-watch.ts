import { setTimeout as sleep } from 'node:timers/promises';
import { endpoints } from '@signalbox/contract';
import { Connection, type Target } from '../load/connection.ts';
import { readResidentBytes } from '../processor-use.ts';

const INTERVAL_MS = 20;

export interface HealthSeen {
  readonly worstMs: number;
  /** Answers other than 200. */
  readonly refusals: number;
  /** Peak resident memory of the hub; null without /proc. */
  readonly residentBytes: number | null;
}

/** Asks a hub for its health again and again, as a monitor would, and reads its memory. */
export class HealthWatch {
  readonly #target: Target;
  readonly #pid: number;
  readonly #ended: Promise<void>;
  #isOver = false;
  #worstMs = 0;
  #refusals = 0;
  #residentBytes: number | null = null;
  /** Of a question that is not answered yet. */
  #sentMs: number | null = null;

  constructor(target: Target, pid: number) {
    this.#target = target;
    this.#pid = pid;
    this.#ended = this.#watch();
    // The failure is thrown by `stop`.
    this.#ended.catch(() => undefined);
  }

  /** Returns the values since the last call. */
  collect(): HealthSeen {
    const openMs = this.#sentMs === null ? 0 : performance.now() - this.#sentMs;
    const seen = {
      worstMs: Math.max(this.#worstMs, openMs),
      refusals: this.#refusals,
      residentBytes: this.#residentBytes,
    };
    this.#worstMs = 0;
    this.#refusals = 0;
    this.#residentBytes = null;
    return seen;
  }

  /** @throws Error if the hub did not answer. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #watch(): Promise<void> {
    const { host, port } = this.#target;
    const { path } = endpoints.health.health;
    const request = `GET ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\n\r\n`;
    const connection = await Connection.open(this.#target);
    while (!this.#isOver) {
      const sentMs = performance.now();
      this.#sentMs = sentMs;
      const { status } = await connection.send(request);
      this.#sentMs = null;
      this.#worstMs = Math.max(this.#worstMs, performance.now() - sentMs);
      if (status !== 200) this.#refusals += 1;
      const bytes = readResidentBytes(this.#pid);
      if (bytes !== null) this.#residentBytes = Math.max(this.#residentBytes ?? 0, bytes);
      await sleep(INTERVAL_MS);
    }
    connection.close();
  }
}
