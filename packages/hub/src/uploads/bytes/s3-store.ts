import { once } from 'node:events';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { SIGNED_URL_MS } from '@signalbox/contract';
import { AwsV4Signer } from 'aws4fetch';
import { HubError } from '../../base/errors.ts';
import { request as httpRequest } from '../../base/node-http.ts';
import type { S3Config } from '../../start/setting-values.ts';
import type { ByteStore, UrlSigner } from './byte-store.ts';
import { takeBytes } from './check-bytes.ts';

/** How long the store may send nothing. */
const IDLE_MS_MAX = 30_000;
const ERROR_TEXT_CHARS_MAX = 500;
const PREFIX = 'uploads/';

/**
 * Stores objects in an S3-compatible store. It uses only what every such store supports: PUT, GET
 * (with ranges), DELETE, and presigned URLs of Signature Version 4. It sends none of the newer
 * checksum headers; the hub hashes all bytes itself.
 *
 * @param lendingDir the directory of temporary files for `withFile`.
 */
export function createS3Store(settings: S3Config, lendingDir: string): ByteStore {
  return {
    signer: createSigner(settings),

    async put(key, source, expected) {
      const headers = { 'content-length': String(expected.sizeBytes) };
      const request = await openRequest(settings, 'PUT', key, headers);
      const answered = answerOf(request);
      // A failure during the upload is reported by `send`; this avoids an unhandled rejection.
      answered.catch(() => undefined);
      try {
        const stored = await takeBytes(source, expected, (piece) => send(request, piece));
        request.end();
        await expectStatus(await answered, [200, 201, 204]);
        return stored;
      } catch (error) {
        // The store drops a body that is shorter than its content-length.
        request.destroy();
        throw error;
      }
    },

    async read(key, range) {
      const headers: Record<string, string> =
        range === null ? {} : { range: `bytes=${range.first}-${range.last}` };
      const answer = await call(settings, 'GET', key, headers);
      if (answer.statusCode === 404) {
        answer.resume();
        return null;
      }
      return expectStatus(answer, [range === null ? 200 : 206]);
    },

    async delete(key) {
      const answer = await call(settings, 'DELETE', key, {});
      (await expectStatus(answer, [200, 204, 404])).resume();
    },

    async withFile(key, use) {
      const bytes = await this.read(key, null);
      if (bytes === null) throw new Error(`the object ${key} is missing from the bucket`);
      const path = join(lendingDir, `${key}.lent`);
      try {
        await writeFileFrom(bytes, lendingDir, path);
        return await use(path);
      } finally {
        bytes.destroy();
        await rm(path, { force: true });
      }
    },

    async sweep() {
      const lent = await readdir(lendingDir).catch(() => []);
      for (const name of lent) await rm(join(lendingDir, name), { force: true });
      return lent.length;
    },
  };
}

function createSigner(settings: S3Config): UrlSigner {
  async function sign(
    method: string,
    key: string,
    signedAtMs: number,
    { query = {}, headers = {} }: Partial<Record<'query' | 'headers', Record<string, string>>>,
  ): Promise<string> {
    const url = urlOf(settings, key);
    url.searchParams.set('X-Amz-Expires', String(SIGNED_URL_MS / 1_000));
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      ...credentialsOf(settings),
      method,
      url: url.href,
      headers,
      datetime: new Date(signedAtMs).toISOString().replace(/[:-]|\.\d{3}/g, ''),
      signQuery: true,
      // Including content-length, so that the store refuses a body of another length.
      allHeaders: true,
    });
    const signed = await signer.sign();
    // The signature is over %20, and some stores do not decode a plus as a blank.
    return signed.url.href.replaceAll('+', '%20');
  }
  return {
    signPut: (key, { sizeBytes, signedAtMs }) =>
      sign('PUT', key, signedAtMs, { headers: { 'content-length': String(sizeBytes) } }),
    signGet: (key, { contentType, contentDisposition, signedAtMs }) =>
      sign('GET', key, signedAtMs, {
        query: {
          'response-content-type': contentType,
          'response-content-disposition': contentDisposition,
          'response-cache-control': 'private, no-store',
        },
      }),
  };
}

function credentialsOf({ accessKeyId, secretAccessKey, region }: S3Config) {
  return { accessKeyId, secretAccessKey, region, service: 's3' };
}

function urlOf({ endpoint, bucket, forcePathStyle }: S3Config, key: string): URL {
  const url = new URL(endpoint);
  if (!forcePathStyle) url.hostname = `${bucket}.${url.hostname}`;
  url.pathname = `${forcePathStyle ? `/${bucket}` : ''}/${PREFIX}${key}`;
  return url;
}

/** The origin of the URLs of objects. */
export function originOfStore(settings: S3Config): string {
  return urlOf(settings, '').origin;
}

async function openRequest(
  settings: S3Config,
  method: string,
  key: string,
  headers: Record<string, string>,
): Promise<ClientRequest> {
  const url = urlOf(settings, key).href;
  const signed = await new AwsV4Signer({ ...credentialsOf(settings), method, url, headers }).sign();
  const send = signed.url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(signed.url, {
    method,
    headers: { ...Object.fromEntries(signed.headers), ...headers },
  });
  request.setTimeout(IDLE_MS_MAX, () =>
    request.destroy(new Error('the object store sent nothing in time')),
  );
  return request;
}

async function call(
  settings: S3Config,
  method: string,
  key: string,
  headers: Record<string, string>,
): Promise<IncomingMessage> {
  const request = await openRequest(settings, method, key, headers);
  const answered = answerOf(request);
  request.end();
  return answered;
}

/** @throws HubError UNAVAILABLE when the store cannot be reached. */
async function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return answer;
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** @throws HubError UNAVAILABLE for any other status. The log gets the store's own message. */
async function expectStatus(answer: IncomingMessage, statuses: number[]): Promise<Readable> {
  if (statuses.includes(answer.statusCode ?? 0)) return answer;
  let text = '';
  for await (const piece of answer) {
    text += String(piece);
    if (text.length > ERROR_TEXT_CHARS_MAX) break;
  }
  throw unavailable(new Error(`the object store answered ${answer.statusCode}: ${text}`));
}

function unavailable(cause: unknown): HubError {
  return new HubError('UNAVAILABLE', 'The object store is unavailable: try again in a moment.', {
    cause,
  });
}

/** Writes a piece and waits for backpressure. The wait also ends when the connection ends. */
async function send(request: ClientRequest, piece: Uint8Array): Promise<void> {
  if (request.destroyed) throw unavailable(request.errored);
  if (request.write(piece)) return;
  const stop = new AbortController();
  try {
    const ends = { signal: stop.signal };
    await Promise.race([once(request, 'drain', ends), once(request, 'close', ends)]);
  } catch (cause) {
    throw unavailable(cause);
  } finally {
    stop.abort();
  }
}

async function writeFileFrom(bytes: Readable, directory: string, path: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(bytes);
  } finally {
    await file.close();
  }
}
