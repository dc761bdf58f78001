import { randomBytes } from 'node:crypto';
import type { Change, ChangeKind } from '@signalbox/contract';

/** How many changes a log keeps for clients that come back. */
const CHANGES_KEPT_MAX = 2_000;
const EPOCH_BYTES = 6;
/** Of one kind in a message; with more, the kind is announced without ids. */
const IDS_PER_KIND_MAX = 50;

/** Changes that were announced together. */
export interface Batch {
  /** Rises by one with each batch. */
  seq: number;
  changes: readonly Change[];
}

/**
 * The latest changes of a workspace that this hub knows of, in memory. A position is an epoch,
 * which belongs to this log only, and the number of a batch.
 */
export class ChangeLog {
  readonly #epoch = randomBytes(EPOCH_BYTES).toString('hex');
  readonly #batches: Batch[] = [];
  #kept = 0;
  #seq = 0;

  get seq(): number {
    return this.#seq;
  }

  positionAt(seq: number): string {
    return `${this.#epoch}-${seq}`;
  }

  append(changes: readonly Change[]): Batch {
    this.#seq += 1;
    const batch = { seq: this.#seq, changes };
    this.#batches.push(batch);
    this.#kept += changes.length;
    while (this.#kept > CHANGES_KEPT_MAX) this.#kept -= this.#batches.shift()?.changes.length ?? 0;
    return batch;
  }

  /** Makes every position that was given out so far unusable: changes may have been missed. */
  forget(): void {
    this.#batches.length = 0;
    this.#kept = 0;
    // No batch has this number, so a client that stands before it cannot continue.
    this.#seq += 1;
  }

  /** The batches after a position; null if the log does not know all of them. */
  after(position: string): readonly Batch[] | null {
    const [epoch, digits = ''] = position.split('-');
    if (epoch !== this.#epoch || !/^\d{1,15}$/.test(digits)) return null;
    const seq = Number(digits);
    if (seq > this.#seq) return null;
    const missing = this.#seq - seq;
    if (missing === 0) return [];
    const batches = this.#batches.slice(-missing);
    return batches[0]?.seq === seq + 1 ? batches : null;
  }
}

/** Collects changes without repetitions, until they are announced together. */
export class PendingChanges {
  readonly #ids = new Map<ChangeKind, Set<string> | null>();

  add({ kind, id }: Change): void {
    const ids = this.#ids.get(kind);
    if (ids === null) return;
    if (id === null || (ids !== undefined && ids.size >= IDS_PER_KIND_MAX))
      this.#ids.set(kind, null);
    else if (ids === undefined) this.#ids.set(kind, new Set([id]));
    else ids.add(id);
  }

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** Returns the changes and forgets them. */
  take(): Change[] {
    const changes = [...this.#ids].flatMap(([kind, ids]): Change[] =>
      ids === null ? [{ kind, id: null }] : [...ids].map((id) => ({ kind, id })),
    );
    this.#ids.clear();
    return changes;
  }
}
