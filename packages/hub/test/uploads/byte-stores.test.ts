import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDirectoryStore } from '../../src/uploads/bytes/directory-store.ts';
import { createS3Store } from '../../src/uploads/bytes/s3-store.ts';
import { expecting, holdToPromises, inPieces } from '../support/byte-store-promises.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { makeBytes } from '../support/upload-setup.ts';

const MB = 1024 * 1024;

holdToPromises('the directory', async (t) => createDirectoryStore(join(makeTempDir(t), 'uploads')));

test('a partial object that a crash left is deleted from the directory', async (t) => {
  const root = join(makeTempDir(t), 'uploads');
  const store = createDirectoryStore(root);
  assert.equal(await store.sweep(), 0);
  const bytes = makeBytes(MB);
  const arriving = Promise.withResolvers<void>();
  const never = Promise.withResolvers<never>();
  async function* stalling() {
    yield bytes.subarray(0, 1_000);
    yield bytes.subarray(1_000, 2_000);
    arriving.resolve();
    await never.promise;
  }
  const put = store.put('half', stalling(), expecting(bytes));
  await arriving.promise;
  assert.equal(readdirSync(join(root, 'incoming')).length, 1);
  assert.equal(existsSync(join(root, 'objects')), false);
  // As another process would see it.
  assert.equal(await createDirectoryStore(root).sweep(), 1);
  never.reject(new Error('given up'));
  await assert.rejects(put, /given up/);
});

test('many uploads at once occupy one of the threads for files', async (t) => {
  const store = createDirectoryStore(join(makeTempDir(t), 'uploads'));
  const bytes = makeBytes(MB);
  const inProgress = new Set<number>();
  let inProgressMax = 0;
  const hook = createHook({
    init(id, type) {
      // Of `fs/promises`: a request that a thread of the pool runs.
      if (type !== 'FSREQPROMISE') return;
      inProgress.add(id);
      inProgressMax = Math.max(inProgressMax, inProgress.size);
    },
    before: (id) => inProgress.delete(id),
  }).enable();
  const put = (number: number) => store.put(`w.${number}`, inPieces(bytes), expecting(bytes));
  try {
    await Promise.all(Array.from({ length: 12 }, (_, number) => put(number)));
  } finally {
    hook.disable();
  }
  assert.equal(inProgressMax, 1);
});

test('an unavailable store and wrong keys are reported', async (t) => {
  const config = {
    endpoint: 'http://127.0.0.1:1',
    bucket: 'b',
    region: 'us-east-1',
    accessKeyId: 'key',
    secretAccessKey: 'hunter2',
    forcePathStyle: true,
  };
  const store = createS3Store(config, makeTempDir(t));
  const bytes = makeBytes(MB);
  const away = { code: 'UNAVAILABLE' };
  await assert.rejects(store.put('x', inPieces(bytes), expecting(bytes)), away);
  await assert.rejects(store.read('x', null), away);
  await assert.rejects(store.delete('x'), away);
});
