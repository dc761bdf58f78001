import { BoundedMap } from '../../base/bounded-map.ts';
import type { KeptRead, KeptReads } from '../engine.ts';

/** Kinds of actions, each in one workspace, whose reads are remembered. */
const KINDS_MAX = 1_000;
/** Reads remembered of a kind. Actions that differ more would find few of them useful. */
const READS_MAX = 8;
/** Longer values, such as a long list of repositories, are not worth their memory. */
const KEY_CHARS_MAX = 2_048;

interface Asked {
  read: KeptRead;
  values: readonly string[];
}

/** Makes a statement in the transaction. */
type Ask = (sql: string, values: readonly string[]) => Promise<readonly object[]>;

/**
 * Saves the round trips of reads that depend on other reads, such as the lanes of the repositories
 * of an agent. Actions of one kind mostly ask for the same rows, so a transaction makes the reads
 * of the one before together with BEGIN, and an action that asks for one of them has its answer.
 * Rows are never kept from one transaction to the next, since other hubs write them.
 */
export class EarlyReads {
  readonly #ofKind = new BoundedMap<string, readonly Asked[]>(KINDS_MAX);

  /** @param hasBegun whether the transaction has begun: a read costs a round trip from then on. */
  open(ask: Ask, hasBegun: () => boolean): TransactionReads {
    return new TransactionReads(this.#ofKind, ask, hasBegun);
  }
}

/** The reads of one transaction. */
export class TransactionReads {
  readonly #ofKind: BoundedMap<string, readonly Asked[]>;
  readonly #ask: Ask;
  readonly #hasBegun: () => boolean;
  /** Answers to reads that were made early. */
  readonly #early = new Map<string, Promise<readonly object[]>>();
  /** Reads that the actions of each kind asked for after the transaction had begun. */
  readonly #late = new Map<string, Map<string, Asked>>();

  constructor(ofKind: BoundedMap<string, readonly Asked[]>, ask: Ask, hasBegun: () => boolean) {
    this.#ofKind = ofKind;
    this.#ask = ask;
    this.#hasBegun = hasBegun;
  }

  /** The reads of an action of a kind; those that are remembered of the kind begin at once. */
  keptFor(kind: string): KeptReads {
    const known = this.#late.get(kind);
    const late = known ?? new Map<string, Asked>();
    if (known === undefined) {
      this.#late.set(kind, late);
      for (const asked of this.#ofKind.get(kind) ?? []) this.#askEarly(kind, asked);
    }
    return {
      all: <Row extends object>(read: KeptRead, values: readonly string[]) => {
        const asked = { read, values };
        const key = keyOf(asked);
        if (this.#hasBegun() && key.length <= KEY_CHARS_MAX) late.set(key, asked);
        const answer = this.#early.get(key) ?? this.#ask(read.sql, values);
        // The author of the statement vouches for the type of its rows, as with `allSql`.
        return answer as Promise<readonly Row[]>;
      },
    };
  }

  /** Remembers what was read late, for the next transaction. */
  end(): void {
    for (const [kind, late] of this.#late) {
      if (late.size > 0) this.#ofKind.set(kind, late.size > READS_MAX ? [] : [...late.values()]);
    }
  }

  #askEarly(kind: string, asked: Asked): void {
    const key = keyOf(asked);
    if (this.#early.has(key)) return;
    const answer = this.#ask(asked.read.sql, asked.values);
    // An action that needs the answer learns of a failure; without one, COMMIT fails. The next
    // transaction must not fail because of the same statement.
    answer.catch(() => this.#ofKind.set(kind, []));
    this.#early.set(key, answer);
  }
}

function keyOf({ read, values }: Asked): string {
  return [read.sql, ...values].join('\0');
}
