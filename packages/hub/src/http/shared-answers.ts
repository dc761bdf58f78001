import { setTimeout as delay } from 'node:timers/promises';

/** Kept answers of all records, in characters; the oldest are dropped first. */
const KEPT_CHARS_MAX = 16_000_000;
/** Callers that arrive during a read share the next one, which begins this long after it. */
const READ_GAP_MS = 25;

/** A question of callers about a record. Callers with the same question get the same answer. */
export interface Question {
  /** The id of the record, unique among all workspaces. */
  recordId: string;
  /** The endpoint and its input, which names the workspace. */
  key: string;
}

export interface SharedAnswer {
  text: string;
  /** Whether the answer stays true until the record changes. */
  lasts: boolean;
}

interface Reading {
  /** When the read is over, whether it succeeded or not. */
  ended: Promise<void>;
  beganMs: number;
  /** The record has changed since the read began. */
  isOld: boolean;
  /** The read that begins after this one, for those who have asked meanwhile. */
  next: Promise<string> | null;
}

/** One question: its answer if that is known to be true now, and the read in progress. */
interface Asked {
  kept: string | null;
  reading: Reading | null;
}

/**
 * Reads once what many callers ask at the same time, such as the browsers that show one job. An
 * answer always contains what was committed before its caller asked: callers share a read only if
 * it begins after they have asked, or if the record has not changed since it began.
 *
 * Callers must be authorized before; an answer may depend on the question only.
 */
export class SharedAnswers {
  readonly #mayKeep: () => boolean;
  readonly #records = new Map<string, Map<string, Asked>>();
  #keptChars = 0;

  /**
   * @param mayKeep whether answers are worth keeping now, and `forget` is called for every change
   *   before anybody else learns of it.
   */
  constructor(mayKeep: () => boolean) {
    this.#mayKeep = mayKeep;
  }

  /** The characters of all kept answers. */
  get keptChars(): number {
    return this.#keptChars;
  }

  /** Answers a question by a kept answer, by a shared read, or by a read of its own. */
  ask(question: Question, read: () => Promise<SharedAnswer>): Promise<string> {
    const asked = this.#open(question);
    if (asked.kept !== null) return Promise.resolve(asked.kept);
    if (asked.reading === null) return this.#begin(question, read);
    asked.reading.next ??= this.#readAfter(asked.reading, question, read);
    return asked.reading.next;
  }

  /** Call it when a record has changed; null: several records have. */
  forget(recordId: string | null): void {
    if (recordId !== null) {
      this.#forgetRecord(recordId);
      return;
    }
    for (const id of [...this.#records.keys()]) this.#forgetRecord(id);
  }

  #begin(question: Question, read: () => Promise<SharedAnswer>): Promise<string> {
    const asked = this.#open(question);
    const answer = read();
    const end = (known: SharedAnswer | null) => {
      if (known?.lasts && !reading.isOld && this.#mayKeep())
        this.#keep(question, asked, known.text);
      if (reading.next === null) this.#close(question, asked);
    };
    const reading: Reading = {
      ended: answer.then(end, () => end(null)),
      beganMs: performance.now(),
      isOld: false,
      next: null,
    };
    asked.reading = reading;
    return answer.then(({ text }) => text);
  }

  async #readAfter(
    reading: Reading,
    question: Question,
    read: () => Promise<SharedAnswer>,
  ): Promise<string> {
    await reading.ended;
    const asked = this.#open(question);
    if (asked.kept === null) {
      await delay(Math.max(0, reading.beganMs + READ_GAP_MS - performance.now()));
    }
    const { kept } = asked;
    if (kept === null) return this.#begin(question, read);
    this.#close(question, asked);
    return kept;
  }

  #open({ recordId, key }: Question): Asked {
    let record = this.#records.get(recordId);
    if (record === undefined) {
      record = new Map();
      this.#records.set(recordId, record);
    }
    let asked = record.get(key);
    if (asked === undefined) {
      asked = { kept: null, reading: null };
      record.set(key, asked);
    }
    return asked;
  }

  /** Ends the reading of a question, and drops the question if nothing is known of it. */
  #close({ recordId, key }: Question, asked: Asked): void {
    asked.reading = null;
    if (asked.kept !== null) return;
    const record = this.#records.get(recordId);
    record?.delete(key);
    if (record?.size === 0) this.#records.delete(recordId);
  }

  #keep({ recordId }: Question, asked: Asked, text: string): void {
    if (text.length > KEPT_CHARS_MAX) return;
    asked.kept = text;
    this.#keptChars += text.length;
    // A Map keeps insertion order, so the first record is the one asked about longest ago.
    for (const oldest of [...this.#records.keys()]) {
      if (this.#keptChars <= KEPT_CHARS_MAX) break;
      if (oldest !== recordId) this.#forgetRecord(oldest);
    }
    // All of it is of this record.
    if (this.#keptChars > KEPT_CHARS_MAX) this.#forgetRecord(recordId);
  }

  #forgetRecord(recordId: string): void {
    const record = this.#records.get(recordId);
    if (record === undefined) return;
    for (const [key, asked] of record) {
      this.#keptChars -= asked.kept?.length ?? 0;
      asked.kept = null;
      if (asked.reading === null) record.delete(key);
      else asked.reading.isOld = true;
    }
    if (record.size === 0) this.#records.delete(recordId);
  }
}
