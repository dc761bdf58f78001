import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HubError } from '../errors.ts';
import { parseJsonBody } from './json-body.ts';

/** JSON by another name, on the routes that say so. */
const FURTHER_TYPES = ['application/cloudevents+json'];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Further content types of JSON that the route takes. */
    contentTypes?: readonly string[];
  }

  interface FastifyRequest {
    /** Holds the bytes of the body against the request's proof; null: nothing is left to prove. */
    proveBody: BodyProof | null;
  }
}

/** @throws HubError 401 */
export type BodyProof = (request: FastifyRequest, bytes: Uint8Array) => void;

/** Takes JSON and nothing else; bytes that need a proof are parsed when they have it. */
export function addBodyParsers(server: FastifyInstance): void {
  server.decorateRequest('proveBody', null);
  server.removeAllContentTypeParsers();
  const add = (type: string, read: (request: FastifyRequest, bytes: Buffer) => unknown) =>
    server.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
      try {
        // Asked for as a buffer, so it is one.
        done(null, read(request, body as Buffer));
      } catch (error) {
        done(error as Error, undefined);
      }
    });
  add('application/json', readBody);
  for (const type of FURTHER_TYPES) {
    add(type, (request, bytes) => {
      if (request.routeOptions.config.contentTypes?.includes(type)) return readBody(request, bytes);
      throw new HubError(
        'INVALID_REQUEST',
        'Send the body as JSON with the header content-type: application/json.',
      );
    });
  }
}

function readBody(request: FastifyRequest, bytes: Buffer): unknown {
  proveBytes(request, bytes);
  return parseJsonBody(bytes);
}

/** A request without a body reaches its handler unparsed: it is held against its proof here. */
export function requireProvedBody(request: FastifyRequest): void {
  if (request.proveBody !== null) proveBytes(request, new Uint8Array());
}

function proveBytes(request: FastifyRequest, bytes: Uint8Array): void {
  request.proveBody?.(request, bytes);
  request.proveBody = null;
}
