import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { ByteStore } from '../../src/uploads/bytes/byte-store.ts';
import { makeBytes, sha256Of } from './upload-setup.ts';

/* What every byte store promises, held against each. */

type MakeStore = (t: Pick<TestContext, 'after'>) => Promise<ByteStore>;

const MB = 1024 * 1024;

export async function* inPieces(bytes: Buffer, pieceBytes = 65_536) {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
  }
}

async function* breakingOff(bytes: Buffer) {
  yield* inPieces(bytes.subarray(0, bytes.length / 2));
  throw new Error('broken off');
}

export const expecting = (bytes: Buffer) => ({ sizeBytes: bytes.length, sha256: sha256Of(bytes) });

async function readAll(store: ByteStore, key: string): Promise<Buffer | null> {
  const stream = await store.read(key, null);
  return stream === null ? null : buffer(stream);
}

/** @param options why the store cannot be made here, if so. */
export function holdToPromises(
  name: string,
  makeStore: MakeStore,
  options: { skip?: string } = {},
): void {
  test(`${name} keeps its promises`, options, async (t) => {
    const store = await makeStore(t);
    const bytes = makeBytes(3 * MB + 1);

    await t.test('an object comes back whole, in ranges and as a file', async () => {
      const stored = await store.put('whole', inPieces(bytes), expecting(bytes));
      assert.deepEqual(stored, { sizeBytes: bytes.length, sha256: sha256Of(bytes) });
      assert.deepEqual(await readAll(store, 'whole'), bytes);
      for (const [first, last] of [
        [0, 0],
        [65_535, 65_536],
        [bytes.length - 1, bytes.length - 1],
        [0, bytes.length - 1],
      ] as const) {
        const part = await store.read('whole', { first, last });
        assert.ok(part);
        assert.deepEqual(await buffer(part), bytes.subarray(first, last + 1));
      }
      assert.deepEqual(await store.withFile('whole', (path) => readFile(path)), bytes);
    });

    await t.test('an empty object is an object', async () => {
      const empty = Buffer.alloc(0);
      await store.put('empty', inPieces(empty), { sizeBytes: 0, sha256: null });
      assert.deepEqual(await readAll(store, 'empty'), empty);
    });

    await t.test('other bytes than expected, and half of them, leave nothing', async () => {
      const right = expecting(bytes);
      const mismatch = { code: 'UPLOAD_MISMATCH' };
      const other = makeBytes(bytes.length, 2);
      const rows: [source: AsyncIterable<Uint8Array>, error: object][] = [
        [inPieces(other), mismatch],
        [inPieces(bytes.subarray(1)), mismatch],
        [inPieces(Buffer.concat([bytes, bytes])), mismatch],
        [breakingOff(bytes), { message: 'broken off' }],
      ];
      for (const [source, error] of rows) {
        await assert.rejects(store.put('wrong', source, right), error);
        assert.equal(await readAll(store, 'wrong'), null);
      }
    });

    await t.test('a deleted object is gone, and deleting nothing is no error', async () => {
      await store.delete('whole');
      assert.equal(await readAll(store, 'whole'), null);
      await store.delete('whole');
      await assert.rejects(store.withFile('whole', (path) => readFile(path)));
    });

    await t.test('twenty objects at once arrive whole', async () => {
      const bodies = Array.from({ length: 20 }, (_, at) => makeBytes(200_000 + at, at + 1));
      await Promise.all(
        bodies.map((body, at) => store.put(`n${at}`, inPieces(body), expecting(body))),
      );
      for (const [at, body] of bodies.entries()) {
        assert.deepEqual(await readAll(store, `n${at}`), body);
      }
    });
  });
}
