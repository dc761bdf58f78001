import { HubError } from '../../errors.ts';
import type { Gathering, SqlValue } from '../engine.ts';
import { isRead } from '../statement-shape.ts';
import { type MergedStatement, mergeStatement, ORDINAL } from './merged-statement.ts';
import { isUnavailable } from './postgres-errors.ts';
import type { Answer, Session, Sessions } from './postgres-session.ts';
import { openTx, type StatementRunner } from './postgres-tx.ts';

interface WaitingStatement {
  values: readonly SqlValue[];
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

interface WaitingInput {
  input: unknown;
  resolve: (output: unknown) => void;
  reject: (error: unknown) => void;
}

/** How a statement is done for many; null: not at all; absent: not looked into yet. */
type Plans = Map<string, MergedStatement | null>;

/**
 * Makes one statement of those of the same text that wait at the same time. What a statement's
 * parameters are, PostgreSQL itself says, once for each text.
 */
export class StatementMerger {
  readonly #sessions: Sessions;
  readonly #plans: Plans = new Map();
  readonly #underWay = new Map<string, Promise<void>>();

  /** @param sessions to ask about parameters: a transaction must not fail by such a question. */
  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** @param actions how many share the transaction; a lone one never waits for company. */
  open(session: Session, nowMs: number, actions: number): StatementRunner {
    if (actions === 1) return session;
    return new MergingRunner(session, nowMs, (text) => this.#planOf(text));
  }

  #planOf(text: string): MergedStatement | null {
    const plan = this.#plans.get(text);
    if (plan === undefined && !this.#underWay.has(text)) {
      const making = this.#makePlan(text).finally(() => this.#underWay.delete(text));
      this.#underWay.set(text, making);
    }
    return plan ?? null;
  }

  /** Ends when no question is under way any more. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  /** Until the plan is there, and if the question fails, statements run one by one. */
  async #makePlan(text: string): Promise<void> {
    try {
      const types = await this.#sessions.use(async (session) => {
        // In a transaction, so that all of it is one session also behind a pooler.
        await session.script('BEGIN');
        try {
          await session.script(`PREPARE described AS ${text}`);
          const { rows } = await session.query<{ types: string[] }>(
            `SELECT parameter_types::text[] AS types FROM pg_prepared_statements
             WHERE name = 'described'`,
            [],
          );
          await session.script('DEALLOCATE described; COMMIT');
          return rows[0]?.types ?? [];
        } catch (error) {
          await session.script('ROLLBACK');
          throw error;
        }
      });
      this.#plans.set(text, mergeStatement(text, types));
    } catch (error) {
      // Without the database there is no answer: the next one that wants it asks again.
      if (isUnavailable(error) || error instanceof HubError) return;
      // A statement that cannot be prepared by name is none to merge; its own run tells why.
      this.#plans.set(text, null);
    }
  }
}

class MergingRunner implements StatementRunner {
  readonly #session: Session;
  readonly #nowMs: number;
  readonly #planOf: (text: string) => MergedStatement | null;
  #statements = new Map<string, WaitingStatement[]>();
  #gatherings = new Map<Gathering<never, unknown>, WaitingInput[]>();
  #isSending = false;

  constructor(session: Session, nowMs: number, planOf: (text: string) => MergedStatement | null) {
    this.#session = session;
    this.#nowMs = nowMs;
    this.#planOf = planOf;
  }

  query<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>> {
    return new Promise((resolve, reject) => {
      const waiting = this.#statements.get(text) ?? [];
      this.#statements.set(text, waiting);
      // The statement's author knows the row.
      waiting.push({ values, resolve: resolve as (answer: Answer) => void, reject });
      this.#sendSoon();
    });
  }

  gather<Input, Output>(work: Gathering<Input, Output>, input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      const waiting = this.#gatherings.get(work) ?? [];
      this.#gatherings.set(work, waiting);
      waiting.push({ input, resolve: resolve as (output: unknown) => void, reject });
      this.#sendSoon();
    });
  }

  /** After the answers at hand have moved all actions on, whatever they want next is waiting. */
  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => {
      this.#isSending = false;
      const statements = this.#statements;
      const gatherings = this.#gatherings;
      this.#statements = new Map();
      this.#gatherings = new Map();
      this.#session.together(() => {
        for (const [text, waiting] of statements) this.#send(text, waiting);
        for (const [work, waiting] of gatherings) void this.#runGathered(work, waiting);
      });
    });
  }

  #send(text: string, waiting: WaitingStatement[]): void {
    if (waiting.length > 1 && isRead(text)) this.#sendDistinct(text, shareAnswers(waiting));
    else this.#sendDistinct(text, waiting);
  }

  #sendDistinct(text: string, waiting: WaitingStatement[]): void {
    const plan = waiting.length > 1 ? this.#planOf(text) : null;
    if (plan !== null) {
      void this.#sendMerged(plan, waiting);
      return;
    }
    for (const { values, resolve, reject } of waiting) {
      this.#session.query<Record<string, unknown>>(text, values).then(resolve, reject);
    }
  }

  async #sendMerged(plan: MergedStatement, waiting: WaitingStatement[]): Promise<void> {
    const width = waiting[0]?.values.length ?? 0;
    const arrays: SqlValue[][] = Array.from({ length: width }, (_none, at) =>
      waiting.map(({ values }) => values[at] ?? null),
    );
    try {
      const answer = await this.#session.queryArrays(plan.text, arrays);
      const answers = plan.numbersRows
        ? dealRows(answer, waiting.length)
        : oneEach(answer.changes, waiting.length);
      for (const [at, each] of answers.entries()) waiting[at]?.resolve(each);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #runGathered(work: Gathering<never, unknown>, waiting: WaitingInput[]): Promise<void> {
    const tx = openTx(this.#session, this.#nowMs);
    try {
      const outputs = await work.run(
        tx,
        // All of one work have its type of input.
        waiting.map(({ input }) => input as never),
      );
      for (const [at, output] of outputs.entries()) waiting[at]?.resolve(output);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}

/**
 * One read for all that ask the same, such as the state of their workspace; each has the same rows,
 * which nobody changes.
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

/** Rows of a set-wise answer, each to the one that it is for. */
function dealRows(
  { columns, rows }: { columns: string[]; rows: unknown[][] },
  count: number,
): Answer[] {
  const answers = Array.from({ length: count }, (): Answer => ({ rows: [], changes: 0 }));
  for (const values of rows) {
    const answer = answers[Number(values[0]) - 1];
    if (answer === undefined || columns[0] !== ORDINAL) throw new Error('a row without a number');
    const row: Record<string, unknown> = {};
    for (let at = 1; at < columns.length; at++) row[columns[at] ?? ''] = values[at];
    answer.rows.push(row);
    answer.changes += 1;
  }
  return answers;
}

function oneEach(changes: number, count: number): Answer[] {
  if (changes !== count) throw new Error(`${count} rows were to be changed, ${changes} were`);
  return Array.from({ length: count }, () => ({ rows: [], changes: 1 }));
}
