import { HubError } from '../../base/errors.ts';
import type { BatchedWork, SqlValue } from '../engine.ts';
import { isRead } from '../is-read.ts';
import {
  type MergedStatement,
  mergeStatement,
  ORDINAL,
  requireChanges,
} from './merged-statement.ts';
import { isUnavailable } from './postgres-errors.ts';
import type { Answer, Session, Sessions } from './postgres-session.ts';
import { type Beginning, openTx, type StatementRunner } from './postgres-tx.ts';

interface WaitingStatement {
  values: readonly SqlValue[];
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Writes of the same text that no action waits for, at most one of each sender. */
interface SentWrites {
  text: string;
  values: (readonly SqlValue[])[];
}

interface WaitingInput {
  input: unknown;
  resolve: (output: unknown) => void;
  reject: (error: unknown) => void;
}

/** The merged version of each text; null: it cannot be merged; absent: not known yet. */
type Plans = Map<string, MergedStatement | null>;

/**
 * Merges statements of the same text that are asked for at the same time. It asks PostgreSQL itself
 * for the parameter types of a statement, once for each text.
 */
export class StatementMerger {
  readonly #sessions: Sessions;
  readonly #plans: Plans = new Map();
  /** Questions for parameter types in progress, by text. */
  readonly #describing = new Map<string, Promise<void>>();

  /** @param sessions to ask for types: such a question must not make a transaction fail. */
  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** @param actions how many share the transaction; a single one never waits for others. */
  open(session: Session, beginning: Beginning, actions: number): MergingRunner {
    const planOf = (text: string) => this.#planOf(text);
    return new MergingRunner(session, { beginning, isLone: actions === 1, planOf });
  }

  #planOf(text: string): MergedStatement | null {
    const plan = this.#plans.get(text);
    if (plan === undefined && !this.#describing.has(text)) {
      const making = this.#makePlan(text).finally(() => this.#describing.delete(text));
      this.#describing.set(text, making);
    }
    return plan ?? null;
  }

  /** Resolves when no question is in progress. */
  async close(): Promise<void> {
    await Promise.all(this.#describing.values());
  }

  /** Until the plan exists, and also if the question fails, statements run one by one. */
  async #makePlan(text: string): Promise<void> {
    try {
      const types = await this.#sessions.use(async (session) => {
        // In a transaction, so that it is one session also behind a pooler.
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
      // The database is unavailable: the next statement with this text asks again.
      if (isUnavailable(error) || error instanceof HubError) return;
      // Statements that fail to prepare are not merged; executing them reports the error.
      this.#plans.set(text, null);
    }
  }
}

interface MergingOptions {
  beginning: Beginning;
  /** Whether the transaction has one action only. */
  isLone: boolean;
  planOf: (text: string) => MergedStatement | null;
}

/** Runs the statements of the actions of one transaction. */
export class MergingRunner implements StatementRunner {
  readonly #session: Session;
  readonly #beginning: Beginning;
  readonly #isLone: boolean;
  readonly #planOf: (text: string) => MergedStatement | null;
  /** Writes that have not left yet, in their order. */
  #sent: SentWrites[] = [];
  /** The place in `#sent` of the latest write of each sender. */
  #latest = new Map<object, number>();
  /** The answers to the writes that have left. */
  readonly #answers: Promise<unknown>[] = [];
  #statements = new Map<string, WaitingStatement[]>();
  readonly #batches = new Map<BatchedWork<never, unknown>, WaitingInput[]>();
  /**
   * Batched work in progress; more of it waits. Claims do not skip the rows that their own
   * transaction has locked, so two at once would choose the same entries.
   */
  readonly #running = new Set<BatchedWork<never, unknown>>();
  #isSending = false;

  constructor(session: Session, { beginning, isLone, planOf }: MergingOptions) {
    this.#session = session;
    this.#beginning = beginning;
    this.#isLone = isLone;
    this.#planOf = planOf;
  }

  query<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>> {
    return new Promise((resolve, reject) => {
      const waiting = this.#statements.get(text) ?? [];
      this.#statements.set(text, waiting);
      // The author of the statement vouches for the type of its rows.
      waiting.push({ values, resolve: resolve as (answer: Answer) => void, reject });
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
  send(sender: object, text: string, values: readonly SqlValue[]): void {
    const from = (this.#latest.get(sender) ?? -1) + 1;
    const found = this.#sent.findIndex((writes, at) => at >= from && writes.text === text);
    const at = found < 0 ? this.#sent.push({ text, values: [] }) - 1 : found;
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
      for (const [text, waiting] of statements) this.#ask(text, waiting);
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

  #write({ text, values }: SentWrites): Promise<unknown>[] {
    const plan = values.length > 1 ? this.#planOf(text) : null;
    if (plan !== null) {
      const checked = plan.numbersRows ? requireChanges(plan.text, 'cardinality($1)') : plan.text;
      return [this.#session.query(checked, columnsOf(values))];
    }
    const checked = isUpdate.test(text) ? requireChanges(`${text} RETURNING 1`, '1') : text;
    return values.map((row) => this.#session.query(checked, row));
  }

  #ask(text: string, waiting: WaitingStatement[]): void {
    if (waiting.length > 1 && isRead(text)) this.#askDistinct(text, shareAnswers(waiting));
    else this.#askDistinct(text, waiting);
  }

  #askDistinct(text: string, waiting: WaitingStatement[]): void {
    const plan = waiting.length > 1 ? this.#planOf(text) : null;
    if (plan !== null) {
      void this.#askMerged(plan, waiting);
      return;
    }
    for (const { values, resolve, reject } of waiting) {
      this.#session.query<Record<string, unknown>>(text, values).then(resolve, reject);
    }
  }

  async #askMerged(plan: MergedStatement, waiting: WaitingStatement[]): Promise<void> {
    const arrays = columnsOf(waiting.map(({ values }) => values));
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

  async #runBatch(work: BatchedWork<never, unknown>, waiting: WaitingInput[]): Promise<void> {
    const tx = openTx(this.#session, this.#beginning);
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

const isUpdate = /^\s*UPDATE\b/i;

/** An array for each parameter, from rows of values. */
function columnsOf(rows: readonly (readonly SqlValue[])[]): SqlValue[][] {
  const width = rows[0]?.length ?? 0;
  return Array.from({ length: width }, (_none, at) => rows.map((values) => values[at] ?? null));
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

function oneEach(changes: number, count: number): Answer[] {
  if (changes !== count)
    throw new Error(`a merged statement changed ${changes} rows instead of ${count}`);
  return Array.from({ length: count }, () => ({ rows: [], changes: 1 }));
}
