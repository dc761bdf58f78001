import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import Fastify from 'fastify';
import { limitDrainTime } from '../../src/http/drain-limit.ts';
import { decodeCursor, PAGE_BYTES_MAX, readPage } from '../../src/http/paging.ts';
import { startQueueWorld } from '../support/queue-world.ts';
import { until } from '../support/until.ts';

const { jobs, runs } = endpoints;

/** Rows `job_1000` and down, newest first, and how many were read at most at a time. */
function makeList(charsOf: (at: number) => number, count: number) {
  const reads: number[] = [];
  const all = Array.from({ length: count }, (_, at) => ({
    id: `job_${1_000 + count - at}`,
    text: 'x'.repeat(charsOf(at)),
  }));
  const list = async ({ limit, before }: { limit: number; before: string | null }) => {
    const from = before === null ? 0 : all.findIndex(({ id }) => id === before) + 1;
    const rows = all.slice(from, from + limit + 1);
    reads.push(rows.length);
    return rows;
  };
  return { list, reads, ids: all.map(({ id }) => id) };
}

const keyOf = ({ id }: { id: string }) => id;

test('a page ends by bytes as well as by count, and pages together have every row once', async () => {
  for (const charsOf of [
    () => 10,
    () => 200_000,
    () => PAGE_BYTES_MAX * 2,
    (at: number) => (at === 7 ? PAGE_BYTES_MAX * 3 : 100),
    (at: number) => (at % 10) * 40_000,
  ]) {
    const { list, reads, ids } = makeList(charsOf, 50);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = { limit: 30, before: decodeCursor(cursor, 'job') };
      const { items, nextCursor } = await readPage(page, list, keyOf);
      assert.ok(items.length > 0 && items.length <= 30);
      const bytes = items.reduce((sum, { text }) => sum + text.length, 0);
      assert.ok(bytes <= PAGE_BYTES_MAX || items.length === 1, `${bytes} bytes`);
      seen.push(...items.map(keyOf));
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
    assert.deepEqual(seen, ids);
    assert.ok(reads.every((rows) => rows <= 31));
  }
});

test('long rows are read in small pieces, also after short ones, and short ones in few', async () => {
  const long = makeList(() => 200_000, 200);
  await readPage({ limit: 200, before: null }, long.list, keyOf);
  assert.ok(
    long.reads.every((rows) => rows <= 3),
    `${long.reads}`,
  );
  const mixed = makeList((at) => (at < 2 ? 100 : 200_000), 200);
  await readPage({ limit: 200, before: null }, mixed.list, keyOf);
  assert.ok(
    mixed.reads.every((rows) => rows <= 9),
    `${mixed.reads}`,
  );
  const short = makeList(() => 100, 200);
  const { items } = await readPage({ limit: 200, before: null }, short.list, keyOf);
  assert.deepEqual([items.length, short.reads.length], [200, 4]);
});

test('lists of long jobs and runs end early, with a cursor', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const long = 'x'.repeat(150_000);
  const jobIds: string[] = [];
  for (let n = 0; n < 16; n++) jobIds.push((await h.enqueue({ prompt: long })).jobId);
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await h.call(jobs.list, {
      workspaceId,
      limit: 200,
      view: 'whole',
      ...(cursor === undefined ? {} : { cursor }),
    });
    seen.push(...page.jobs.map(({ jobId }) => jobId));
    cursor = page.nextCursor ?? undefined;
    pages += 1;
  } while (cursor !== undefined);
  assert.deepEqual(seen, jobIds.reverse());
  assert.ok(pages > 1, 'a page of whole jobs ends after a megabyte');
  for (let n = 0; n < 8; n++) {
    const run = {
      workspaceId,
      repoId,
      runRef: `r${n}`,
      status: 'planned',
      goal: 'g'.repeat(90_000),
    };
    await h.call(runs.upsertV1, run);
  }
  const { runs: listed } = await h.call(runs.list, { workspaceId, limit: 200 });
  assert.ok(listed.length > 0);
});

async function startFileServer(t: TestContext, drainMs: number) {
  const server = Fastify();
  limitDrainTime(server, drainMs);
  // More than the buffers of two sockets take.
  server.get('/', async () => 'x'.repeat(64 * 1_024 * 1_024));
  const closed: boolean[] = [];
  server.server.on('connection', (socket) => {
    socket.on('close', () => closed.push(true));
    socket.on('error', () => undefined);
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const { port } = server.server.address() as { port: number };
  const open = () => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
    );
    socket.on('error', () => undefined);
    t.after(() => socket.destroy());
    return socket;
  };
  return { open, closed };
}

test('a connection whose client reads nothing of its answer is closed', async (t) => {
  const { open, closed } = await startFileServer(t, 1_000);
  open().pause();
  await until('the server has closed it', () => closed.length === 1);
});

test('a client that reads slowly gets its whole answer', async (t) => {
  // Long enough for a busy machine, and shorter than the client takes for the whole answer.
  const drainMs = 5_000;
  const wholeMs = 7_000;
  const wholeBytes = 64 * 1_024 * 1_024;
  const { open, closed } = await startFileServer(t, drainMs);
  const socket = open();
  const startMs = performance.now();
  let bytes = 0;
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error(`cut after ${bytes} bytes`)));
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > wholeBytes) resolve();
      const dueMs = startMs + (bytes / wholeBytes) * wholeMs;
      socket.pause();
      setTimeout(() => socket.resume(), Math.max(0, dueMs - performance.now()));
    });
  });
  await ended;
  assert.ok(performance.now() - startMs > drainMs, 'the client was slower than the limit');
  assert.deepEqual(closed, []);
});
