import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { HttpContext } from './request-context.ts';

/** Shorter than the pauses after which proxies close a connection (nginx: 60 s). */
const KEEP_ALIVE_MS = 15_000;
/** Bytes that wait for a client before further events are dropped and replaced by one `reset`. */
const WAITING_BYTES_MAX = 65_536;
/** How long a client may take nothing of what waits for it. */
const DRAIN_MS_MAX = 30_000;

/** One server-sent event (HTML Living Standard, section 9.2). */
interface ServerEvent {
  event: string;
  id: string;
  /** Sent as JSON, which has no line breaks. */
  data: object;
}

/** Writes to one client of a stream. */
export interface EventWriter {
  /** Drops the event while too much waits for the client. */
  write(event: ServerEvent): void;
  /** `call` is called when the client has read what waited, if events were dropped meanwhile. */
  onDrained(call: () => void): void;
  end(): void;
}

/** Starts to write events. @returns called once when the stream has ended. */
export type EventSource = (writer: EventWriter) => () => void;

/**
 * Sends events until the client leaves, the source ends the stream, or the caller loses access. The
 * stream holds no connection to the database.
 */
export function sendEvents(
  reply: FastifyReply,
  context: Pick<HttpContext, 'signal' | 'unwatch'>,
  start: EventSource,
  drainMs = DRAIN_MS_MAX,
): void {
  const { raw } = reply;
  const { signal } = context;
  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Proxies such as nginx would collect the events otherwise.
    'x-accel-buffering': 'no',
  });
  if (raw.socket instanceof Socket) raw.socket.setNoDelay(true);
  const outlet = new EventOutlet(raw, drainMs);
  const keepAlive = setInterval(() => outlet.keepAlive(), KEEP_ALIVE_MS);
  let hasEnded = false;
  let stop = () => {};
  // Bytes may still wait for the client, but the source writes no more.
  const release = () => {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(keepAlive);
    context.unwatch();
    stop();
  };
  const end = () => {
    release();
    outlet.end();
  };
  raw.once('close', release);
  stop = start({
    write: (event) => outlet.write(event),
    onDrained: (call) => {
      outlet.onDrained = call;
    },
    end,
  });
  signal.addEventListener('abort', end);
  // The source may have ended the stream while it started; the client may have left and the caller
  // may have lost access while the caller was being authorized.
  if (hasEnded) stop();
  else if (raw.destroyed || signal.aborted) end();
}

/** Writes events to a client, within bounds of memory and time if the client does not read them. */
class EventOutlet {
  /** Called when the client has read what waited, if events were dropped meanwhile. */
  onDrained: () => void = () => {};
  readonly #raw: ServerResponse;
  readonly #drainMs: number;
  #hasDropped = false;
  #hasEnded = false;
  /** Runs while something waits for the client. */
  #drainTimer: NodeJS.Timeout | null = null;

  constructor(raw: ServerResponse, drainMs: number) {
    this.#raw = raw;
    this.#drainMs = drainMs;
    raw.on('drain', () => this.#drained());
    raw.once('close', () => this.#stopTimer());
  }

  write({ event, id, data }: ServerEvent): void {
    if (this.#hasEnded) return;
    const isFull = this.#raw.writableLength > WAITING_BYTES_MAX;
    // After the first one that is dropped, the client gets a `reset` before anything else.
    if (isFull || this.#hasDropped) this.#hasDropped = true;
    else this.#put(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  keepAlive(): void {
    if (this.#drainTimer === null) this.#put(': keep-alive\n\n');
  }

  /** Ends the answer; what still waits for the client has as long as ever to be read. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#raw.end();
    if (!this.#raw.writableFinished) this.#startTimer();
  }

  #put(text: string): void {
    if (!this.#raw.write(text)) this.#startTimer();
  }

  #drained(): void {
    if (this.#hasEnded) return;
    this.#stopTimer();
    if (!this.#hasDropped) return;
    this.#hasDropped = false;
    this.onDrained();
  }

  #startTimer(): void {
    this.#drainTimer ??= setTimeout(() => this.#raw.destroy(), this.#drainMs);
  }

  #stopTimer(): void {
    if (this.#drainTimer !== null) clearTimeout(this.#drainTimer);
    this.#drainTimer = null;
  }
}
