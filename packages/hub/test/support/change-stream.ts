import assert from 'node:assert/strict';
import type { Change } from '@signalbox/contract';

/** One event of a stream as it arrives. */
export interface StreamedEvent {
  event: string;
  id: string;
  changes: Change[];
}

/** A client of the stream of changes, which reads as a test asks. */
export class ChangeStream {
  readonly headers: Headers;
  readonly #body: ReadableStreamDefaultReader<string>;
  readonly #abort: AbortController;
  #text = '';

  constructor(response: Response, abort: AbortController) {
    assert.ok(response.body, 'a stream has a body');
    this.headers = response.headers;
    this.#body = response.body.pipeThrough(new TextDecoderStream()).getReader();
    this.#abort = abort;
  }

  /** The next event; null when the hub has ended the stream. */
  async next(): Promise<StreamedEvent | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end !== -1) {
        const event = parseEvent(this.#text.slice(0, end));
        this.#text = this.#text.slice(end + 2);
        if (event !== null) return event;
        continue;
      }
      const { value, done } = await this.#body.read();
      if (done) return null;
      this.#text += value;
    }
  }

  /** Reads until a change of a kind and record arrives; returns all that arrived until then. */
  async until(kind: Change['kind'], id: string | null): Promise<Change[]> {
    const seen: Change[] = [];
    for (;;) {
      const event = await this.next();
      assert.ok(event, `the stream ended before ${kind} ${id}`);
      seen.push(...event.changes);
      if (event.changes.some((change) => change.kind === kind && change.id === id)) return seen;
    }
  }

  leave(): void {
    this.#abort.abort();
  }
}

/** Null: a comment, or fields without data. */
function parseEvent(text: string): StreamedEvent | null {
  const fields = new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return null;
  return {
    event: fields.get('event') ?? '',
    id: fields.get('id') ?? '',
    changes: (JSON.parse(data) as { changes: Change[] }).changes,
  };
}

/** Asks for a stream; the answer may be a refusal. */
export function askForStream(
  url: string,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, { headers, ...(signal && { signal }) });
}

export async function openStream(
  url: string,
  headers: Record<string, string>,
): Promise<ChangeStream> {
  const abort = new AbortController();
  const response = await askForStream(url, headers, abort.signal);
  assert.equal(response.status, 200, response.ok ? '' : await response.text());
  return new ChangeStream(response, abort);
}
