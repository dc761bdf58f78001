import { assert } from '../../base/errors.ts';
import type {
  BatchedWork,
  KeptReads,
  NoteWrite,
  RowWrite,
  SqlValue,
  TextWrite,
  Tx,
  Written,
} from '../engine.ts';
import { toStatement } from '../row-write.ts';
import type { Connection } from './sqlite-connection.ts';

/** The `Tx` of one action on SQLite, and what its transaction has to know about it afterwards. */
export class SqliteTx implements Tx {
  readonly engine = 'sqlite';
  readonly rowLock = '';
  readonly kept: KeptReads | null;
  readonly nowMs: number;
  /** To be made when the action is durable. */
  readonly calls: (() => void)[] = [];
  /** Whether a statement has run that may have written. */
  hasWritten = false;
  readonly #writer: Connection;
  readonly #note: NoteWrite;

  constructor(writer: Connection, nowMs: number, note: NoteWrite) {
    this.#writer = writer;
    this.#note = note;
    this.kept = writer.kept;
    this.nowMs = nowMs;
  }

  allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    return this.#writer.allSql(sql, values);
  }

  firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#writer.firstSql(sql, values);
  }

  async write(write: RowWrite): Promise<Written> {
    this.#note(this, write);
    const { text, values } = toStatement(write);
    this.hasWritten = true;
    return this.#writer.write(text, values, write);
  }

  async runSql(sql: string, values: readonly SqlValue[], about?: TextWrite): Promise<Written> {
    if (about !== undefined) this.#note(this, about);
    this.hasWritten = true;
    return this.#writer.write(sql, values, about);
  }

  send(write: RowWrite): void {
    this.#note(this, write);
    const { text, values } = toStatement(write);
    this.hasWritten = true;
    const { changes } = this.#writer.write(text, values, write);
    if (changes !== 1) throw new Error(`a statement changed ${changes} rows instead of one`);
  }

  /** No-op: SQLite has a single writer. */
  requireExclusive(): void {}

  /** Runs the work for this action only: SQLite runs one action at a time. */
  async runBatched<Input, Output>(work: BatchedWork<Input, Output>, input: Input): Promise<Output> {
    const outputs = await work.run(this, [input]);
    assert(outputs.length === 1, 'batched work has one output for each input');
    // The length is 1, so the first element is an Output.
    return outputs[0] as Output;
  }

  afterCommit(call: () => void): void {
    this.calls.push(call);
  }
}
