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
export interface ServerEvent {
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
export function sendEvents(reply: FastifyReply, context: HttpContext, start: EventSource): void {
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
  let hasDropped = false;
  let onDrained = () => {};
  let drainTimer: NodeJS.Timeout | null = null;
  const put = (text: string) => {
    raw.write(text);
    if (raw.writableLength > WAITING_BYTES_MAX) {
      drainTimer ??= setTimeout(() => raw.destroy(), DRAIN_MS_MAX);
    }
  };
  raw.on('drain', () => {
    if (drainTimer !== null) clearTimeout(drainTimer);
    drainTimer = null;
    if (!hasDropped) return;
    hasDropped = false;
    onDrained();
  });
  const keepAlive = setInterval(() => {
    if (drainTimer === null) put(': keep-alive\n\n');
  }, KEEP_ALIVE_MS);
  const end = () => raw.end();
  let hasEnded = false;
  let stop = () => {};
  const close = () => {
    hasEnded = true;
    clearInterval(keepAlive);
    if (drainTimer !== null) clearTimeout(drainTimer);
    context.unwatch();
    stop();
  };
  raw.once('close', close);
  stop = start({
    write({ event, id, data }) {
      if (drainTimer === null) put(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
      else hasDropped = true;
    },
    onDrained: (call) => {
      onDrained = call;
    },
    end,
  });
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  // The client left while the caller was being authorized.
  if (raw.destroyed && !hasEnded) close();
}
