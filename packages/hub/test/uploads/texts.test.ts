import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimDueExtracts } from '../../src/uploads/extraction/store.ts';
import { makeDocx, makePdf } from '../support/document-files.ts';
import { type HomeWorld, startHomeWorld } from '../support/home-world.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { getDownload, upload } from '../support/upload-setup.ts';

const MINUTE_MS = 60_000;

/** A manual clock without timers: batches run only when a test runs them. */
const createStillClock = (): ManualClock => ({
  ...createManualClock(),
  schedule: () => () => undefined,
});

interface Extract {
  status: string;
  reason: string | null;
  attempts: number;
  truncated: number;
  context_item_id: string | null;
}

interface Item {
  item_id: string;
  title: string;
  text: string;
  trust: string;
  source_ref: string;
}

const extractionOf = ({ hub }: HomeWorld) => hub.loops.extraction;

const listExtracts = ({ hub }: HomeWorld) =>
  hub.database.reader.allSql<Extract>('SELECT * FROM upload_extracts ORDER BY created_at', []);

const listItems = ({ hub }: HomeWorld) =>
  hub.database.reader.allSql<Item>(
    `SELECT * FROM context_items WHERE kind = 'upload_extract' ORDER BY item_id`,
    [],
  );

test('the text of an upload becomes a context item, once for the same bytes', async (t) => {
  const harness = await startHomeWorld(t, { clock: createStillClock() });
  const pdf = makePdf(['The button is red']);
  const draft = { fileName: 'rules.pdf', contentType: 'application/pdf' };
  const uploadId = await upload(harness, pdf, draft);
  await upload(harness, pdf, { ...draft, fileName: 'copy.pdf' });
  const other = await harness.addWorkspace('other');
  await upload(harness, pdf, draft, other);
  await upload(harness, 'not read', { contentType: 'image/png' });
  assert.deepEqual(await extractionOf(harness).runOnce(), { claimed: 2, hasMore: true });
  assert.deepEqual(await extractionOf(harness).runOnce(), { claimed: 0, hasMore: false });
  const items = await listItems(harness);
  assert.equal(items.length, 2, 'one in each workspace');
  const item = items.find(({ source_ref }) => source_ref === uploadId);
  assert.ok(item);
  assert.equal(item.text, 'The button is red');
  assert.deepEqual([item.title, item.trust], ['rules.pdf', 'external']);
  const extracts = await listExtracts(harness);
  assert.deepEqual(
    extracts.map(({ status, reason, attempts }) => [status, reason, attempts]),
    [
      ['done', null, 1],
      ['done', null, 1],
    ],
  );
  assert.ok(extracts.some(({ context_item_id }) => context_item_id === item.item_id));
});

test('a document that cannot be read is kept, with the reason for its missing text', async (t) => {
  const harness = await startHomeWorld(t, { clock: createStillClock() });
  const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const uploadId = await upload(harness, '<p>no Word</p>', { contentType: word });
  await extractionOf(harness).runOnce();
  const [extract] = await listExtracts(harness);
  assert.deepEqual([extract?.status, extract?.reason], ['failed', 'wrong_content_type']);
  assert.deepEqual(await listItems(harness), []);
  assert.equal((await getDownload(harness, uploadId)).sizeBytes, 14);
});

test('an attempt that a crash interrupted is repeated, three times at most', async (t) => {
  const clock = createStillClock();
  const harness = await startHomeWorld(t, { clock });
  await upload(harness, makeDocx(['hello']), {
    fileName: 'a.docx',
    contentType: 'application/octet-stream',
  });
  // The state that a killed hub leaves: claimed, never finished.
  const die = () =>
    harness.hub.database.write(null, (tx) =>
      claimDueExtracts(tx, { limit: 1, attemptMs: 2 * MINUTE_MS }),
    );
  assert.equal((await die()).length, 1);
  assert.deepEqual(await extractionOf(harness).runOnce(), { claimed: 0, hasMore: false });
  clock.advance(2 * MINUTE_MS);
  assert.equal((await die()).length, 1);
  clock.advance(2 * MINUTE_MS);
  assert.equal((await die()).length, 1);
  clock.advance(2 * MINUTE_MS);
  await extractionOf(harness).runOnce();
  const [extract] = await listExtracts(harness);
  assert.deepEqual([extract?.status, extract?.reason], ['failed', 'attempts_exhausted']);
});

test('a document whose bytes are unavailable is retried later', async (t) => {
  const clock = createStillClock();
  const harness = await startHomeWorld(t, { clock });
  await upload(harness, 'hello');
  const root = join(harness.dataDir, 'uploads', 'objects');
  const [file] = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.ok(file);
  const place = join(file.parentPath, file.name);
  rmSync(place);
  await assert.rejects(extractionOf(harness).runOnce(), { code: 'ENOENT' });
  const [extract] = await listExtracts(harness);
  assert.deepEqual([extract?.status, extract?.attempts], ['pending', 0]);
  writeFileSync(place, 'hello');
  clock.advance(MINUTE_MS);
  await extractionOf(harness).runOnce();
  assert.equal((await listExtracts(harness))[0]?.status, 'done');
  assert.equal((await listItems(harness))[0]?.text, 'hello');
});

test('a stop aborts a document in progress, and its attempt does not count', async (t) => {
  const harness = await startHomeWorld(t, { clock: createStillClock() });
  await upload(harness, makePdf(Array.from({ length: 3_000 }, (_, at) => `Page ${at}`)), {
    contentType: 'application/pdf',
  });
  const loop = extractionOf(harness);
  const piece = loop.runOnce();
  while ((await listExtracts(harness))[0]?.attempts === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await loop.stop();
  await piece;
  const [extract] = await listExtracts(harness);
  assert.deepEqual([extract?.status, extract?.attempts], ['pending', 0]);
});

test('the data policy of the workspace applies to extracts', async (t) => {
  const harness = await startHomeWorld(t, { clock: createStillClock() });
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  await upload(harness, `the token is ${secret}`);
  await extractionOf(harness).runOnce();
  const [item] = await listItems(harness);
  assert.ok(item);
  assert.ok(item.text.startsWith('the token is '));
  assert.ok(!item.text.includes(secret), item.text);
});
