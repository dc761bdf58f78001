import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HubError } from '../base/errors.ts';
import { FORM_TYPE, parseForm } from './form-body.ts';
import { parseJsonBody } from './json-body.ts';

/** Further content types, and how they are read; a route must accept them by `contentTypes`. */
const furtherTypes: Readonly<Record<string, (bytes: Buffer) => unknown>> = {
  'application/cloudevents+json': parseJsonBody,
  [FORM_TYPE]: (bytes) => parseForm(bytes.toString('utf8')),
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Content types that the route accepts in addition to application/json. */
    contentTypes?: readonly string[];
  }

  interface FastifyRequest {
    /** Checks a proof that covers the body, such as a signature; null: checked, or none needed. */
    proveBody: BodyProof | null;
  }
}

/** @throws HubError 401 */
export type BodyProof = (request: FastifyRequest, bytes: Uint8Array) => void;

/**
 * Accepts JSON bodies, and others where a route does. If the proof of a request covers its body, it
 * is checked first.
 */
export function addBodyParsers(server: FastifyInstance): void {
  server.decorateRequest('proveBody', null);
  server.removeAllContentTypeParsers();
  const add = (type: string, read: (request: FastifyRequest, bytes: Buffer) => unknown) =>
    server.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
      try {
        // `parseAs` makes the body a Buffer.
        done(null, read(request, body as Buffer));
      } catch (error) {
        done(error as Error, undefined);
      }
    });
  add('application/json', (request, bytes) => readBody(request, bytes, parseJsonBody));
  for (const [type, parse] of Object.entries(furtherTypes)) {
    add(type, (request, bytes) => {
      if (request.routeOptions.config.contentTypes?.includes(type)) {
        return readBody(request, bytes, parse);
      }
      throw new HubError(
        'INVALID_REQUEST',
        'Send the body as JSON with the header content-type: application/json.',
      );
    });
  }
}

function readBody(
  request: FastifyRequest,
  bytes: Buffer,
  parse: (bytes: Buffer) => unknown,
): unknown {
  proveBytes(request, bytes);
  return parse(bytes);
}

/** Checks the proof of a request without a body, for which Fastify calls no parser. */
export function requireProvedBody(request: FastifyRequest): void {
  if (request.proveBody !== null) proveBytes(request, new Uint8Array());
}

function proveBytes(request: FastifyRequest, bytes: Uint8Array): void {
  request.proveBody?.(request, bytes);
  request.proveBody = null;
}
