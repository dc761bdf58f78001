import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HubError } from '../../errors.ts';
import { request as requestUpstream } from '../../node-http.ts';
import { UPLOAD_TIMEOUT_MS } from '../request-timeout.ts';

/** Of an answer of the core: the connection of the client ends after it. */
const END_HEADER = 'x-end-connection';

/** Headers of one connection (RFC 9110, section 7.6.1). */
const connectionHeaders = ['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade'];
/** The core believes these of this thread only. */
const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];
const droppedOfRequest = new Set([...connectionHeaders, ...forwardingHeaders]);
/** Node frames the answer as the client's version of HTTP demands. */
const droppedOfAnswer = new Set([...connectionHeaders, 'transfer-encoding', END_HEADER]);

/**
 * Keeps the connection to the front thread open after an answer that ends the client's. The core
 * may answer before it has read the body, and the thread would not get the answer if it could send
 * no more. Add it to the core's server after all other hooks.
 */
export function keepRelayed(server: FastifyInstance): void {
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.getHeader('connection') === 'close') {
      reply.removeHeader('connection');
      reply.header(END_HEADER, 'true');
    }
    done();
  });
}

/**
 * Hands requests over to the core's own server as they are, over a Unix socket: those of the
 * console, files, uploads, downloads and streams of events. Add it after all other routes.
 */
export function relayOthers(server: FastifyInstance, socketPath: string): void {
  // In a scope of its own, where bodies are left unread.
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    scope.route({
      method: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'],
      url: '*',
      // The core counts and limits them.
      config: { isCounted: true, requestTimeoutMs: UPLOAD_TIMEOUT_MS },
      onRequest: async (request) => {
        // Fastify would refuse a malformed one; the core judges it.
        delete request.raw.headers['content-type'];
      },
      handler: async (request, reply) => {
        const answer = await askCore(request, socketPath);
        reply.hijack();
        const client = reply.raw;
        client.writeHead(answer.statusCode ?? 502, [
          ...without(droppedOfAnswer, answer.rawHeaders),
          ...(answer.headers[END_HEADER] === undefined ? [] : ['connection', 'close']),
        ]);
        // A stream of events sends its headers before the first event.
        client.flushHeaders();
        // A part must not be taken for the whole.
        answer.once('error', () => client.destroy());
        client.once('close', () => answer.destroy());
        answer.pipe(client);
        return reply;
      },
    });
  });
}

/** @returns the answer of the core, whose body is unread. @throws HubError UNAVAILABLE */
async function askCore({ raw, ip }: FastifyRequest, socketPath: string): Promise<IncomingMessage> {
  const upstream = requestUpstream({
    socketPath,
    // A connection for each request: the core never closes one that is about to be used.
    agent: false,
    method: raw.method,
    path: raw.url,
    headers: [...without(droppedOfRequest, raw.rawHeaders), 'x-forwarded-for', ip],
    setDefaultHeaders: false,
  });
  // The client has left: the core ends what it does for it.
  const leave = () => upstream.destroy();
  raw.socket.once('close', leave);
  upstream.once('close', () => {
    raw.socket.removeListener('close', leave);
    // After an early answer, the rest of the body must not stop the connection.
    raw.unpipe(upstream);
    raw.resume();
  });
  const answer = firstAnswer(upstream);
  raw.pipe(upstream);
  return answer;
}

async function firstAnswer(upstream: ClientRequest): Promise<IncomingMessage> {
  // After the answer, the rest of the body may fail to be sent.
  upstream.on('error', () => undefined);
  try {
    const [answer] = await once(upstream, 'response');
    return answer as IncomingMessage;
  } catch (cause) {
    throw new HubError('UNAVAILABLE', 'The hub is stopping: send the request again.', { cause });
  }
}

/** Drops headers from a list of names and values. */
function without(dropped: ReadonlySet<string>, rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
