import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createBareServer } from '../support/bare-server.ts';

/** A server whose answers have a given length, as JSON text or as raw bytes. */
function startSized(t: TestContext) {
  const { server } = createBareServer();
  t.after(() => server.close());
  const text = (size: string) => JSON.stringify('a'.repeat(Number(size) - 2));
  server.get<{ Params: { size: string } }>('/json/:size', (request, reply) =>
    reply.header('content-type', 'application/json').send(text(request.params.size)),
  );
  server.get<{ Params: { size: string } }>('/bytes/:size', (request, reply) =>
    reply
      .header('content-length', Number(request.params.size))
      .send(Readable.from([Buffer.from(text(request.params.size))])),
  );
  return (url: string, acceptEncoding?: string) =>
    server.inject({
      url,
      headers: acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding },
    });
}

test('JSON over 1 KB is compressed as the client asks, brotli before gzip', async (t) => {
  const get = startSized(t);
  const decompress = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
  ] as const) {
    const { headers, rawPayload } = await get('/json/20000', accepted);
    assert.equal(headers['content-encoding'], encoding);
    assert.equal(headers.vary, 'accept-encoding');
    assert.equal(Number(headers['content-length']), rawPayload.length);
    assert.ok(rawPayload.length < 1_000, `${rawPayload.length} bytes`);
    assert.equal(decompress[encoding](rawPayload).length, 20_000);
  }
});

test('an answer is not compressed if it is short, raw bytes, or the client does not ask', async (t) => {
  const get = startSized(t);
  for (const [url, accepted] of [
    ['/json/1023', 'br'],
    ['/json/20000', undefined],
    ['/json/20000', 'identity'],
    ['/json/20000', 'br;q=0, gzip;q=0.0'],
    ['/bytes/20000', 'br, gzip'],
  ] as const) {
    const { headers, rawPayload } = await get(url, accepted);
    assert.equal(headers['content-encoding'], undefined, `${url} for ${accepted}`);
    assert.equal(rawPayload.length, Number(url.replace(/\D/g, '')));
  }
  const { headers } = await get('/json/20000');
  assert.equal(headers.vary, 'accept-encoding', 'caches must keep both forms apart');
});
