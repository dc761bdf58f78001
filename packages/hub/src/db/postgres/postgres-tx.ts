import type { Compilable } from 'kysely';
import type { Gathering, SqlValue, Tx } from '../engine.ts';
import { gatherOne } from '../gather.ts';
import { isRead } from '../statement-shape.ts';
import { numberPlaceholders } from './merged-statement.ts';
import type { Answer } from './postgres-session.ts';

/** What runs the statements of an action: a session, or the merger that it shares. */
export interface StatementRunner {
  query<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>>;
  gather?<Input, Output>(work: Gathering<Input, Output>, input: Input): Promise<Output>;
}

/** What an action is given, and what its transaction must know of it afterwards. */
export interface ActionTx extends Tx {
  readonly calls: (() => void)[];
  readonly hasWritten: boolean;
}

/** @param requireExclusive nothing where the action is alone, else what leaves it. */
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
    rowLock: ' FOR NO KEY UPDATE',
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
    async gather(work, input) {
      try {
        const output = await (runner.gather?.(work, input) ?? gatherOne(tx, work, input));
        hasWritten ||= work.hasWritten(output);
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
