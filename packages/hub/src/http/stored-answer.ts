import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, type Encoding } from './accept-encoding.ts';

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** An answer that is the same for every request: a file of the console, the OpenAPI document. */
export interface StoredAnswer {
  bytes: Buffer;
  contentType: string;
  caching: string;
  etag: string;
  isCompressible: boolean;
  /** Each encoding is made once, at the first request for it. */
  compressed: Partial<Record<Encoding, Promise<Buffer>>>;
}

export function storeAnswer(
  bytes: Buffer,
  options: Pick<StoredAnswer, 'contentType' | 'caching' | 'isCompressible'>,
): StoredAnswer {
  return { ...options, bytes, etag: `"${hash('sha256', bytes, 'base64url')}"`, compressed: {} };
}

/** Sends it compressed if the client accepts that, or 304 if the client has it. */
export async function sendStored(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: StoredAnswer,
): Promise<FastifyReply> {
  reply.headers({
    'cache-control': answer.caching,
    etag: answer.etag,
    vary: 'accept-encoding',
  });
  // A page that says "not found" is sent whole.
  if (reply.statusCode === 200 && request.headers['if-none-match'] === answer.etag) {
    return reply.code(304).send();
  }
  const encoding = answer.isCompressible ? chooseEncoding(request) : null;
  if (encoding !== null) reply.header('content-encoding', encoding);
  reply.header('content-type', answer.contentType);
  return reply.send(encoding === null ? answer.bytes : await compressedBytes(answer, encoding));
}

function compressedBytes(answer: StoredAnswer, encoding: Encoding): Promise<Buffer> {
  answer.compressed[encoding] ??= compress[encoding](answer.bytes);
  return answer.compressed[encoding];
}
