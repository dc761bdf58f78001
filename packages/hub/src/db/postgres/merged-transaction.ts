import type { BatchedWork, RowWrite, SqlValue } from '../engine.ts';
import {
  isMergeable,
  type MergedStatement,
  mergeReads,
  mergeWrites,
  ORDINAL,
  requireChanges,
} from './merged-statement.ts';
import type { Answer, Session } from './postgres-session.ts';
import { type Beginning, openTx, type StatementRunner } from './postgres-tx.ts';

interface WaitingStatement {
  values: readonly SqlValue[];
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Statements of the same text that actions wait for. */
interface WaitingStatements {
  /** The write that they have in common, or a read; null: they are not merged. */
  merging: 'read' | RowWrite | null;
  waiting: WaitingStatement[];
}

/** Writes of the same text that no action waits for, at most one of each sender. */
interface SentWrites {
  text: string;
  write: RowWrite;
  values: (readonly SqlValue[])[];
}

interface WaitingInput {
  input: unknown;
  resolve: (output: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs the statements of the actions of one transaction. Those of the same text that are asked for
 * at the same time are merged.
 */
export class MergedTransaction implements StatementRunner {
  readonly #session: Session;
  readonly #beginning: Beginning;
  readonly #isLone: boolean;
  /** Writes that have not left yet, in their order. */
  #sent: SentWrites[] = [];
  /** The place in `#sent` of the latest write of each sender. */
  #latest = new Map<object, number>();
  /** The answers to the writes that have left. */
  readonly #answers: Promise<unknown>[] = [];
  #statements = new Map<string, WaitingStatements>();
  readonly #batches = new Map<BatchedWork<never, unknown>, WaitingInput[]>();
  /**
   * Batched work in progress; more of it waits. Claims do not skip the rows that their own
   * transaction has locked, so two at once would choose the same entries.
   */
  readonly #running = new Set<BatchedWork<never, unknown>>();
  #isSending = false;

  /** @param actions how many share the transaction; a single one never waits for others. */
  constructor(session: Session, beginning: Beginning, actions: number) {
    this.#session = session;
    this.#beginning = beginning;
    this.#isLone = actions === 1;
  }

  query<Row>(
    text: string,
    values: readonly SqlValue[],
    merging: 'read' | RowWrite | null = null,
  ): Promise<Answer<Row>> {
    return new Promise((resolve, reject) => {
      const statements = this.#statements.get(text) ?? { merging, waiting: [] };
      this.#statements.set(text, statements);
      // The author of the statement vouches for the type of its rows.
      statements.waiting.push({ values, resolve: resolve as (answer: Answer) => void, reject });
      this.#sendSoon();
    });
  }

  runBatched<Input, Output>(work: BatchedWork<Input, Output>, input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      const waiting = this.#batches.get(work) ?? [];
      this.#batches.set(work, waiting);
      waiting.push({ input, resolve: resolve as (output: unknown) => void, reject });
      this.#sendSoon();
    });
  }

  /** Writes of a sender keep their order, and writes of several senders share a statement. */
  send(sender: object, text: string, values: readonly SqlValue[], write: RowWrite): void {
    const from = (this.#latest.get(sender) ?? -1) + 1;
    const found = this.#sent.findIndex((writes, at) => at >= from && writes.text === text);
    const at = found < 0 ? this.#sent.push({ text, write, values: [] }) - 1 : found;
    this.#sent[at]?.values.push(values);
    this.#latest.set(sender, at);
  }

  /** Sends the writes that are left. Resolves when all writes that were sent have succeeded. */
  async flush(): Promise<void> {
    this.#sendWrites();
    await Promise.all(this.#answers);
  }

  /**
   * Sends after the answers that have arrived let all actions ask for their next statements. At the
   * beginning all have asked within this turn of the event loop.
   */
  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    const isFirst = this.#beginning.nowMs === null;
    const later = this.#isLone || isFirst ? process.nextTick : setImmediate;
    later(() => {
      this.#isSending = false;
      this.#sendAll();
    });
  }

  #sendAll(): void {
    const statements = this.#statements;
    const batches = [...this.#batches].filter(([work]) => !this.#running.has(work));
    this.#statements = new Map();
    for (const [work] of batches) this.#batches.delete(work);
    this.#session.together(() => {
      this.#sendWrites();
      for (const [text, asked] of statements) this.#ask(text, asked);
      for (const [work, waiting] of batches) void this.#runBatch(work, waiting);
    });
  }

  #sendWrites(): void {
    const sent = this.#sent;
    this.#sent = [];
    this.#latest = new Map();
    for (const writes of sent) {
      for (const answer of this.#write(writes)) {
        // `flush` reports it; meanwhile it must not count as unhandled.
        answer.catch(() => undefined);
        this.#answers.push(answer);
      }
    }
  }

  #write({ text, write, values }: SentWrites): Promise<unknown>[] {
    const isUpdate = write.verb === 'update';
    const merged = values.length > 1 ? mergeWrites(write, values) : null;
    if (merged !== null) {
      const checked = isUpdate ? requireChanges(merged.text, 'cardinality($1)') : merged.text;
      return [this.#session.query(checked, merged.arrays)];
    }
    const checked = isUpdate ? requireChanges(`${text} RETURNING 1`, '1') : text;
    return values.map((row) => this.#session.query(checked, row));
  }

  #ask(text: string, { merging, waiting: asked }: WaitingStatements): void {
    const waiting = merging === 'read' && asked.length > 1 ? shareAnswers(asked) : asked;
    const merged = waiting.length > 1 ? merge(text, merging, waiting) : null;
    if (merged !== null) {
      void this.#askMerged(merged, waiting);
      return;
    }
    for (const { values, resolve, reject } of waiting) {
      this.#session.query<Record<string, unknown>>(text, values).then(resolve, reject);
    }
  }

  async #askMerged(merged: MergedStatement, waiting: WaitingStatement[]): Promise<void> {
    try {
      const answer = await this.#session.queryArrays(merged.text, merged.arrays);
      const answers = dealRows(answer, waiting.length);
      for (const [at, each] of answers.entries()) waiting[at]?.resolve(each);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #runBatch(work: BatchedWork<never, unknown>, waiting: WaitingInput[]): Promise<void> {
    // It only reads.
    const tx = openTx(this.#session, this.#beginning, { note: () => undefined });
    this.#running.add(work);
    try {
      const outputs = await work.run(
        tx,
        // All inputs of one work have the type that it takes.
        waiting.map(({ input }) => input as never),
      );
      for (const [at, output] of outputs.entries()) waiting[at]?.resolve(output);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
    this.#running.delete(work);
    if (this.#batches.has(work)) this.#sendSoon();
  }
}

function merge(
  text: string,
  merging: 'read' | RowWrite | null,
  waiting: readonly WaitingStatement[],
): MergedStatement | null {
  if (merging === null) return null;
  const rows = waiting.map(({ values }) => values);
  if (merging === 'read') return mergeReads(text, rows);
  return isMergeable(merging) ? mergeWrites(merging, rows) : null;
}

/**
 * Makes one read of those with equal values, such as the state of a workspace. All callers get the
 * same row objects, which they must not change.
 */
function shareAnswers(waiting: readonly WaitingStatement[]): WaitingStatement[] {
  const askers = new Map<string, WaitingStatement[]>();
  for (const asker of waiting) {
    const key = JSON.stringify(asker.values);
    const same = askers.get(key);
    if (same === undefined) askers.set(key, [asker]);
    else same.push(asker);
  }
  return Array.from(askers.values(), (same) => ({
    values: same[0]?.values ?? [],
    resolve: (answer) => {
      for (const asker of same) asker.resolve(answer);
    },
    reject: (error) => {
      for (const asker of same) asker.reject(error);
    },
  }));
}

/** Splits the rows of a merged answer by the row of values that they belong to. */
function dealRows(
  { columns, rows }: { columns: string[]; rows: unknown[][] },
  count: number,
): Answer[] {
  const answers = Array.from({ length: count }, (): Answer => ({ rows: [], changes: 0 }));
  for (const values of rows) {
    const answer = answers[Number(values[0]) - 1];
    if (answer === undefined || columns[0] !== ORDINAL)
      throw new Error('a merged row has no number');
    const row: Record<string, unknown> = {};
    for (let at = 1; at < columns.length; at++) row[columns[at] ?? ''] = values[at];
    answer.rows.push(row);
    answer.changes += 1;
  }
  return answers;
}
