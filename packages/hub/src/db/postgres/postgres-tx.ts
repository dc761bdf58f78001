import type { Compilable } from 'kysely';
import { assert } from '../../errors.ts';
import type { BatchedWork, SqlValue, Tx } from '../engine.ts';
import { isRead, postgresQueries } from '../statements.ts';
import { numberPlaceholders } from './merged-statement.ts';
import type { Answer } from './postgres-session.ts';

/** Runs the statements of an action: a session, or a runner that merges statements. */
export interface StatementRunner {
  query<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>>;
  /** Absent in a session, which serves a single action at a time. */
  runBatched?<Input, Output>(work: BatchedWork<Input, Output>, input: Input): Promise<Output>;
}

/** The `Tx` of one action, and what its transaction has to know about it afterwards. */
export interface ActionTx extends Tx {
  /** To be made when the action is durable. */
  readonly calls: (() => void)[];
  /** Whether a statement has run that may have written. */
  readonly hasWritten: boolean;
}

/** @param requireExclusive throws where the action is concurrent; a no-op where it is exclusive. */
export function openTx(
  runner: StatementRunner,
  nowMs: number,
  requireExclusive: () => void = () => undefined,
): ActionTx {
  const calls: (() => void)[] = [];
  let hasWritten = false;
  function query<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>> {
    hasWritten ||= !isRead(text);
    return runner.query<Row>(numberPlaceholders(text), values);
  }
  function compile(compilable: Compilable<unknown>): [string, SqlValue[]] {
    const { sql, parameters } = compilable.compile();
    return [sql, parameters as SqlValue[]];
  }
  const tx: ActionTx = {
    engine: 'postgres',
    get build() {
      return postgresQueries();
    },
    rowLock: ' FOR NO KEY UPDATE',
    kept: null,
    nowMs,
    calls,
    get hasWritten() {
      return hasWritten;
    },
    all: async <Row>(q: Compilable<Row>) => (await query<Row>(...compile(q))).rows,
    first: async <Row>(q: Compilable<Row>) => (await query<Row>(...compile(q))).rows[0],
    allSql: async <Row>(sql: string, values: readonly SqlValue[]) =>
      (await query<Row>(sql, values)).rows,
    firstSql: async <Row>(sql: string, values: readonly SqlValue[]) =>
      (await query<Row>(sql, values)).rows[0],
    run: async (q) => ({ changes: (await query(...compile(q))).changes }),
    runSql: async (sql, values) => ({ changes: (await query(sql, values)).changes }),
    requireExclusive,
    async runBatched(work, input) {
      try {
        const output = await (runner.runBatched?.(work, input) ?? runSingle(tx, work, input));
        hasWritten ||= work.rowsWritten(output).length > 0;
        return output;
      } catch (error) {
        hasWritten = true;
        throw error;
      }
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
