/** One HTTP answer. The body is decoded as Latin-1, because all fields that are read are ASCII. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

const HEAD_END = '\r\n\r\n';
/** Limit of an answer; no measure requests a larger one. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Reads consecutive HTTP/1.1 answers from the chunks of one connection. It does only what a load
 * generator needs: status, length and body.
 *
 * @throws Error if an answer has no content-length or is invalid.
 */
export class AnswerReader {
  #head = '';
  #body: Buffer[] = [];
  #status = 0;
  /** Missing bytes of the body; null while reading the head. */
  #missing: number | null = null;

  /**
   * Reads the next chunk, which may be reused afterwards; returns the answer once it is complete.
   */
  read(chunk: Buffer): Answer | null {
    if (this.#missing !== null) return this.#readBody(chunk);
    const text = this.#head + chunk.toString('latin1');
    const end = text.indexOf(HEAD_END);
    if (end === -1) {
      if (text.length > ANSWER_BYTES_MAX) throw new Error('the head of an answer has no end');
      this.#head = text;
      return null;
    }
    const head = text.slice(0, end);
    this.#head = '';
    this.#status = readStatus(head);
    const length = readLength(head);
    const body = text.slice(end + HEAD_END.length);
    // Usually the whole answer is in one chunk.
    if (body.length === length) return { status: this.#status, body };
    this.#missing = length;
    return this.#readBody(Buffer.from(body, 'latin1'));
  }

  #readBody(chunk: Buffer): Answer | null {
    const missing = (this.#missing ?? 0) - chunk.length;
    if (missing < 0) throw new Error('an answer is longer than its content-length');
    this.#body.push(Buffer.from(chunk));
    this.#missing = missing;
    if (missing > 0) return null;
    const body = Buffer.concat(this.#body).toString('latin1');
    this.#body = [];
    this.#missing = null;
    return { status: this.#status, body };
  }
}

function readStatus(head: string): number {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
  if (status === undefined) throw new Error(`not an HTTP answer: ${head.slice(0, 60)}`);
  return Number(status);
}

function readLength(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error('an answer has no content-length');
  const bytes = Number(length);
  if (bytes > ANSWER_BYTES_MAX) throw new Error(`an answer of ${bytes} bytes is too long`);
  return bytes;
}

/**
 * Reads the first field with this name from JSON text: a string without escapes or a number; null
 * if it is absent or null. Much cheaper than parsing an answer of which two fields are needed.
 */
export function readField(json: string, name: string): string | null {
  const mark = `"${name}":`;
  const at = json.indexOf(mark);
  if (at === -1) return null;
  const start = at + mark.length;
  if (json.charCodeAt(start) === 0x22) return json.slice(start + 1, json.indexOf('"', start + 1));
  const digits = /^-?\d+/.exec(json.slice(start, start + 24));
  return digits?.[0] ?? null;
}
