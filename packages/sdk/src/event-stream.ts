/** Server-sent events of one endpoint, over as many connections as it takes. */
import type { Endpoint } from '@signalbox/contract';
import { retryDelayMs } from './backoff.ts';
import { buildRequest, type CallContext } from './call.ts';
import { UnreachableError } from './errors.ts';
import { type HttpRequest, readReply } from './exchange.ts';

/** The hub sends a comment every 15 s; a connection that is silent for longer is dead. */
const SILENCE_MS_MAX = 45_000;
/** From here on, the pause before a new connection no longer grows. */
const ATTEMPTS_COUNTED_MAX = 7;

/** One event. `reset`: something may have been missed, so read everything again. */
export type StreamedEvent<Data> = Data & {
  event: 'open' | 'reset' | 'changes';
  /** The position: `after` of a later call continues from here. */
  id: string;
};

/**
 * Yields the events of a stream. When the connection breaks, it connects again after a pause with
 * jitter and continues after the last event, without a loss or with a `reset`.
 * @throws {ApiError} if the hub refuses. The signal's reason if it aborts.
 */
export async function* streamEvents<Data>(
  context: CallContext,
  endpoint: Endpoint,
  fields: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): AsyncGenerator<StreamedEvent<Data>> {
  let { after } = fields;
  for (let attempt = 1; ; attempt = Math.min(attempt + 1, ATTEMPTS_COUNTED_MAX)) {
    let failure: unknown = new UnreachableError(`${context.baseUrl} ended the stream.`);
    try {
      const request = buildRequest(context, endpoint, { ...fields, after }, { signal });
      for await (const event of readConnection<Data>(context, endpoint, request)) {
        attempt = 1;
        after = event.id;
        yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      failure = error;
    }
    const { random } = context;
    const delayMs = retryDelayMs({
      error: failure,
      attempt,
      random,
      attemptsMax: Number.POSITIVE_INFINITY,
      repeatable: true,
    });
    if (delayMs === null || !(failure instanceof Error)) throw failure;
    context.onRetry?.({ endpoint: endpoint.name, attempt, delayMs, error: failure });
    await context.sleep(delayMs, signal);
  }
}

/** The events of one connection, until it ends. */
async function* readConnection<Data>(
  context: CallContext,
  endpoint: Endpoint,
  request: HttpRequest,
): AsyncGenerator<StreamedEvent<Data>> {
  const ending = new AbortController();
  const { signal } = request;
  const abort = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => ending.abort(), SILENCE_MS_MAX);
  };
  try {
    signal?.throwIfAborted();
    heard();
    const response = await open(context, endpoint, request, ending.signal);
    const parser = new EventParser<Data>();
    const reader = response.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read().catch((cause: unknown) => {
        throw new UnreachableError(`The stream of ${context.baseUrl} broke off.`, { cause });
      });
      if (done) return;
      heard();
      yield* parser.read(value);
    }
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', abort);
    ending.abort();
  }
}

async function open(
  context: CallContext,
  endpoint: Endpoint,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const headers = { ...request.headers, accept: 'text/event-stream' };
  const response = await context
    .fetch(request.url, { method: 'GET', headers, redirect: 'manual', signal })
    .catch((cause: unknown) => {
      throw new UnreachableError(`The hub at ${context.baseUrl} does not answer.`, { cause });
    });
  const { status, body } = response;
  if (status === 200 && body !== null && isEventStream(response.headers)) {
    return body;
  }
  const redirected = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
  const reply = { status, headers: response.headers, redirected, text: await response.text() };
  readReply(endpoint, reply, context.baseUrl, context.nowMs());
  throw new UnreachableError(`${context.baseUrl} did not answer with a stream; check the proxy.`);
}

function isEventStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Parses events as they arrive (HTML Living Standard, section 9.2.6). */
class EventParser<Data> {
  #text = '';

  *read(text: string): Generator<StreamedEvent<Data>> {
    this.#text = (this.#text + text).replaceAll('\r\n', '\n');
    for (let end = this.#text.indexOf('\n\n'); end !== -1; end = this.#text.indexOf('\n\n')) {
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const fields = new Map(
        lines.map((line) => {
          const at = line.indexOf(':');
          return [line.slice(0, at), line.slice(at + 1).trimStart()];
        }),
      );
      const { event, id, data } = Object.fromEntries(fields);
      if (event !== 'open' && event !== 'reset' && event !== 'changes') continue;
      // The hub checks the data against the row's schema in its tests.
      yield { ...(JSON.parse(data ?? '{}') as Data), event, id: id ?? '' };
    }
  }
}
