import { assert } from '../../base/errors.ts';
import type { BatchedWork, KeptReads, NoteWrite, RowWrite, SqlValue, Tx } from '../engine.ts';
import { toStatement } from '../row-write.ts';
import { numberPlaceholders } from './merged-statement.ts';
import type { Answer } from './postgres-session.ts';

/** Runs the statements of an action: a session, or a runner that merges statements. */
export interface StatementRunner {
  /** @param merging what it has in common with others of the same text; null: they stay apart. */
  query<Row>(
    text: string,
    values: readonly SqlValue[],
    merging?: 'read' | RowWrite | null,
  ): Promise<Answer<Row>>;
  /** Absent in a session, which serves a single action at a time. */
  runBatched?<Input, Output>(work: BatchedWork<Input, Output>, input: Input): Promise<Output>;
  /**
   * Sends a write later, and fails the transaction if it does not change exactly one row. Absent in
   * a session, which sends it at once.
   */
  send?(sender: object, text: string, values: readonly SqlValue[], write: RowWrite): void;
}

/** The beginning of a transaction, whose answer the first reads do not wait for. */
export interface Beginning {
  /** The database's clock; null until the transaction has begun. */
  readonly nowMs: number | null;
}

/** Thrown into an action that does more than read before its transaction has begun. */
export class NotBegun extends Error {}

/** The `Tx` of one action, and what its transaction has to know about it afterwards. */
export interface ActionTx extends Tx {
  /** To be made when the action is durable. */
  readonly calls: (() => void)[];
  /** Whether a statement has run that may have written. */
  readonly hasWritten: boolean;
  /** Waits for the writes that a session has sent. Throws what the first failed one threw. */
  settleSent(): Promise<void>;
}

interface TxParts {
  note: NoteWrite;
  /** Throws for a concurrent action. Default: a no-op. */
  requireExclusive?: () => void;
  kept?: KeptReads | null;
}

export function openTx(
  runner: StatementRunner,
  beginning: Beginning,
  { note, requireExclusive = () => undefined, kept = null }: TxParts,
): ActionTx {
  const calls: (() => void)[] = [];
  const sent: Promise<void>[] = [];
  let hasWritten = false;
  function requireBegun(): number {
    if (beginning.nowMs === null) throw new NotBegun();
    return beginning.nowMs;
  }
  function beginWrite(): void {
    requireBegun();
    hasWritten = true;
  }
  async function read<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    return (await runner.query<Row>(numberPlaceholders(sql), values, 'read')).rows;
  }
  async function sendNow(text: string, values: readonly SqlValue[]): Promise<void> {
    const { changes } = await runner.query(text, values);
    if (changes !== 1) throw new Error(`a statement changed ${changes} rows instead of one`);
  }
  const tx: ActionTx = {
    engine: 'postgres',
    rowLock: ' FOR NO KEY UPDATE',
    kept,
    get nowMs() {
      return requireBegun();
    },
    calls,
    get hasWritten() {
      return hasWritten;
    },
    allSql: read,
    firstSql: async <Row>(sql: string, values: readonly SqlValue[]) =>
      (await read<Row>(sql, values))[0],
    async write(write) {
      beginWrite();
      note(tx, write);
      const { text, values } = toStatement(write);
      return runner.query<object>(numberPlaceholders(text), values, write);
    },
    async runSql(sql, values, about) {
      beginWrite();
      if (about !== undefined) note(tx, about);
      return runner.query<object>(numberPlaceholders(sql), values);
    },
    send(write) {
      beginWrite();
      note(tx, write);
      const statement = toStatement(write);
      const { values } = statement;
      const text = numberPlaceholders(statement.text);
      if (runner.send !== undefined) {
        runner.send(tx, text, values, write);
        return;
      }
      const answer = sendNow(text, values);
      // `settleSent` reports it; meanwhile it must not count as unhandled.
      answer.catch(() => undefined);
      sent.push(answer);
    },
    async settleSent() {
      await Promise.all(sent);
    },
    requireExclusive,
    async runBatched(work, input) {
      requireBegun();
      return runner.runBatched?.(work, input) ?? runSingle(tx, work, input);
    },
    afterCommit: (call) => void calls.push(call),
  };
  return tx;
}

/** Runs batched work for one action only. */
async function runSingle<Input, Output>(
  tx: Tx,
  work: BatchedWork<Input, Output>,
  input: Input,
): Promise<Output> {
  const outputs = await work.run(tx, [input]);
  assert(outputs.length === 1, 'batched work has one output for each input');
  // The length is 1, so the first element is an Output.
  return outputs[0] as Output;
}
