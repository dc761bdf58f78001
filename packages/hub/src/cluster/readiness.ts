import { randomBytes } from 'node:crypto';
import type { DiskSpace } from '../base/disk-space.ts';
import { HubError } from '../base/errors.ts';
import type { Database } from '../db/engine.ts';
import { writeHubSetting } from '../db/hub-settings.ts';
import type { HubGroup } from './hub-group.ts';
import type { SchemaWatch } from './schema-watch.ts';

/** How long later checks use a success, so that frequent checks write rarely. */
const FRESH_MS = 2_000;
/** A step of the check that takes longer counts as failed. */
const STEP_MS_MAX = 3_000;
/** Heartbeats come twice a second. */
const HEARTBEAT_AGE_MS_MAX = 3_000;
/** Enough that a disk without space refuses it, also where a small change fits into a page. */
const PROBE_BYTES = 6_144;
/** The name of the setting, and a scope of its own: the probe waits for no other write. */
const PROBE = 'write_probe';

interface ReadinessParts {
  readonly database: Database;
  readonly group: Pick<HubGroup, 'heartbeatAgeMs'>;
  readonly schema: SchemaWatch;
  readonly disk: DiskSpace;
  /** Set before the hub stops, so that load balancers send requests elsewhere. */
  readonly draining: { readonly isDraining: boolean };
}

/** Whether this hub can do its work now: above all, whether it can write. */
export class Readiness {
  readonly #parts: ReadinessParts;
  /** By `performance.now()`. */
  #succeededAtMs = Number.NEGATIVE_INFINITY;
  #probe: Promise<void> | null = null;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** @throws HubError UNAVAILABLE with the reason */
  async check(): Promise<void> {
    const { schema, draining, group } = this.#parts;
    schema.requireCurrent();
    if (draining.isDraining) throw new HubError('UNAVAILABLE', 'The hub is stopping.');
    if (group.heartbeatAgeMs() > HEARTBEAT_AGE_MS_MAX) {
      throw new HubError('UNAVAILABLE', 'The database has not answered for 3 s.');
    }
    if (performance.now() - this.#succeededAtMs < FRESH_MS) return;
    this.#probe ??= this.#tryAll().finally(() => {
      this.#probe = null;
    });
    await this.#probe;
  }

  async #tryAll(): Promise<void> {
    await withinTime(this.#requireSpace(), 'The disk of the hub does not answer.');
    await withinTime(this.#write(), 'A write to the database takes too long.');
    this.#succeededAtMs = performance.now();
  }

  async #requireSpace(): Promise<void> {
    if (await this.#parts.disk.isEnough()) return;
    throw new HubError('UNAVAILABLE', 'The disk of the hub is nearly full: make space.');
  }

  #write(): Promise<void> {
    const value = randomBytes(PROBE_BYTES).toString('base64');
    return this.#parts.database.writeConcurrent({ workspaceId: PROBE, keys: [PROBE] }, (tx) =>
      writeHubSetting(tx, PROBE, value),
    );
  }
}

/** @param message of the refusal when the step takes longer. */
async function withinTime(step: Promise<void>, message: string): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new HubError('UNAVAILABLE', message)), STEP_MS_MAX);
  try {
    await Promise.race([step, promise]);
  } finally {
    clearTimeout(timer);
    // It may fail after the time, when no caller waits for it.
    step.catch(() => undefined);
  }
}
