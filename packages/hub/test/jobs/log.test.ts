import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { Api } from '../../src/http/bind.ts';
import { READS_MAX } from '../../src/http/limiter.ts';
import { SharedAnswers } from '../../src/http/shared-answers.ts';
import { searchLog } from '../../src/jobs/search-log.ts';
import { createBareServer } from '../support/bare-server.ts';
import { countTurns } from '../support/event-loop-turns.ts';
import { createOpenGate } from '../support/open-gate.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobEvents, jobs } = endpoints;

type Setup = Awaited<ReturnType<typeof startQueueWorld>>;
type Entry = RequestOf<typeof jobEvents.append>['entries'][number];

/** In JSON, a control character takes six bytes: below the limit of a request body. */
const APPEND_CHARS_MAX = 60_000;

/** A running job whose output is appended and read as text. */
async function setupLog(h: Setup) {
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 86_400_000 });
  const ref = { workspaceId: h.workspaceId, jobId };
  let logSeq = 0;
  const append = (entries: Omit<Entry, 'logSeq'>[]) =>
    h.call(jobEvents.append, {
      ...ref,
      agentId: h.agentId,
      entries: entries.map((entry) => ({ ...entry, logSeq: ++logSeq })),
    });
  const appendText = async (text: string, pieceChars: number) => {
    const pieces = Array.from({ length: Math.ceil(text.length / pieceChars) }, (_, i) => ({
      message: text.slice(i * pieceChars, (i + 1) * pieceChars),
    }));
    const together = Math.min(500, Math.max(1, Math.floor(APPEND_CHARS_MAX / pieceChars)));
    for (let from = 0; from < pieces.length; from += together) {
      await append(pieces.slice(from, from + together));
    }
  };
  const read = (body: Partial<RequestOf<typeof jobs.log>> = {}) =>
    h.call(jobs.log, { ...ref, ...body });
  const search = (text: string, body: Partial<RequestOf<typeof jobs.searchLog>> = {}) =>
    h.call(jobs.searchLog, { ...ref, text, ...body });
  const download = async (body: Partial<RequestOf<typeof jobs.downloadLog>> = {}) => {
    const response = await h.hub.server.inject({
      method: 'POST',
      url: jobs.downloadLog.path,
      headers: { authorization: `Bearer ${h.home.token}` },
      payload: { ...ref, ...body },
    });
    assert.equal(response.statusCode, 200, response.body);
    return response.rawPayload;
  };
  return { jobId, append, appendText, read, search, download };
}

const numbersOf = (found: { line: number }[]) => found.map(({ line }) => line);

/** Reads a whole log in pages of a size. */
async function readAll({ read }: Awaited<ReturnType<typeof setupLog>>, limit: number) {
  const lines: string[] = [];
  for (let fromLine = 1; ; ) {
    const page = await read({ fromLine, limit });
    for (const { line, text } of page.lines) {
      assert.equal(line, lines.length + 1);
      lines.push(text);
    }
    if (page.lines.length === 0) return lines;
    fromLine = page.nextLine;
  }
}

test('a log is one text with numbered lines, wherever the pieces of output end', async (t) => {
  const h = await startQueueWorld(t);
  const log = await setupLog(h);
  const at = '2026-11-02T09:00:00.000Z';
  await log.append([
    { message: 'first\nsec', stream: 'stdout', at },
    { message: 'ond', stream: 'stderr' },
    { message: '' },
    { message: '\n\n' },
    { message: 'fünf\nopen', stream: 'agent' },
  ]);
  const page = await log.read();
  const hubAt = page.attempts[0]?.firstAt ?? '';
  assert.deepEqual(page.lines, [
    { line: 1, text: 'first', stream: 'stdout', at },
    { line: 2, text: 'second', stream: 'stdout', at },
    { line: 3, text: '', at: hubAt },
    { line: 4, text: 'fünf', stream: 'agent', at: hubAt },
    { line: 5, text: 'open', stream: 'agent', at: hubAt },
  ]);
  assert.deepEqual(
    [page.totalLines, page.sizeBytes, page.nextLine, page.isEnded],
    [5, 24, 6, false],
  );
  await log.append([{ message: ' no more\n' }]);
  const { lines, totalLines } = await log.read({ fromLine: 5 });
  assert.deepEqual([lines[0]?.text, lines.length, totalLines], ['open no more', 1, 5]);
  assert.equal(
    (await log.download()).toString(),
    'first\nsecond\n\nfünf\nopen no more\n',
    'the download is the same text',
  );
});

test('a job that has not started has an empty log', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue();
  const ref = { workspaceId: h.workspaceId, jobId };
  assert.deepEqual(await h.call(jobs.log, ref), {
    ok: true,
    attempt: 0,
    attempts: [],
    totalLines: 0,
    sizeBytes: 0,
    isEnded: false,
    lines: [],
    nextLine: 1,
  });
  assert.deepEqual((await h.call(jobs.searchLog, { ...ref, text: 'x' })).matches, []);
  await h.refuse(jobs.log, { ...ref, fromLine: 1, fromByte: 1 }, 'INVALID_REQUEST');
});

test('pages, ranges and searches of a long log agree with its text', async (t) => {
  const h = await startQueueWorld(t);
  const log = await setupLog(h);
  const lines = Array.from({ length: 40_000 }, (_, i) => `${i + 1} ${'é·'.repeat(i % 40)} end`);
  const text = `${lines.join('\n')}\n`;
  // First short pieces, more than a segment may have; then long ones that end within a line.
  await log.appendText(text.slice(0, 60_000), 41);
  await log.appendText(text.slice(60_000), 7_919);
  const bytes = Buffer.from(text);
  assert.deepEqual(await readAll(log, 1_000), lines);
  assert.ok((await log.download()).equals(bytes));
  for (const [from, until] of [
    [0, 1],
    [70_001, 70_002],
    [65_535, 1_000_003],
    [bytes.length - 3, 9e9],
  ] as const) {
    const part = await log.download({ fromByte: from, untilByte: until });
    assert.ok(part.equals(bytes.subarray(from, until)), `bytes ${from} to ${until}`);
  }
  assert.equal((await log.download({ fromByte: bytes.length })).length, 0);
  for (const line of [1, 2, 777, 12_345, 39_999, 40_000]) {
    const page = await log.read({ fromLine: line, limit: 2 });
    assert.deepEqual(
      page.lines.map((each) => each.text),
      lines.slice(line - 1, line + 1),
    );
    const fromByte = Buffer.byteLength(lines.slice(0, line - 1).join('\n')) + (line > 1 ? 1 : 0);
    for (const byte of [fromByte, fromByte + 2]) {
      const [first] = (await log.read({ fromByte: byte, limit: 1 })).lines;
      assert.equal(first?.line, line, `byte ${byte}`);
    }
    const { matches, nextLine } = await log.search(`${line} `, { fromLine: line, limit: 1 });
    assert.deepEqual([numbersOf(matches), nextLine], [[line], line + 1]);
  }
  const last = await log.read({ limit: 3 });
  assert.deepEqual(numbersOf(last.lines), [39_998, 39_999, 40_000]);
  assert.deepEqual((await log.read({ fromLine: 40_001 })).lines, []);
  assert.deepEqual((await log.read({ fromByte: bytes.length + 5 })).lines, []);
  const { matches, nextLine } = await log.search('00 ', { limit: 1_000 });
  const expected = lines.flatMap((line, i) => (line.includes('00 ') ? [i + 1] : []));
  assert.deepEqual([numbersOf(matches), nextLine], [expected, null]);
});

test('a search takes its text literally, in any case, and sees no control sequences', async (t) => {
  const h = await startQueueWorld(t);
  const log = await setupLog(h);
  await log.appendText(
    [
      'plain',
      '\u001b[1mErr\u001b[0;31mor\u001b[0m: 100%_ (a+)+$ [x] \\d .*',
      '\u001b]8;;https://example.com/error\u0007link\u001b]8;;\u0007',
      'ÄRGER İstanbul',
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!',
      "'; DROP TABLE jobs; --",
      '\u001b[31',
    ].join('\n'),
    5,
  );
  const find = async (text: string) => numbersOf((await log.search(text)).matches);
  for (const literal of ['error: 100%_', '(a+)+$', '[X]', '\\d', '.*', '%_']) {
    assert.deepEqual(await find(literal), [2], literal);
  }
  assert.deepEqual(await find('example.com'), [], 'an address of a link is not visible');
  assert.deepEqual(await find('ärger i'), [4]);
  assert.deepEqual(await find("'; drop table"), [6]);
  assert.deepEqual(await find('\n'), [], 'no match spans lines');
  assert.deepEqual(await find('plain\nerror'), []);
  assert.deepEqual(await find('a'), [1, 2, 4, 5, 6], 'a line is found once');
  const [match] = (await log.search('(a+)')).matches;
  assert.equal(match?.text, 'Error: 100%_ (a+)+$ [x] \\d .*');
});

test('a line of megabytes is cut, searched, and does not hide the next one', async (t) => {
  const h = await startQueueWorld(t);
  const log = await setupLog(h);
  const long = `${'x'.repeat(1_500_001)}needle${'😀'.repeat(300_000)}`;
  await log.appendText(`before\n${long}\nafter needle\n`, 60_000);
  const { lines, totalLines } = await log.read({ fromLine: 1 });
  assert.deepEqual(numbersOf(lines), [1, 2, 3]);
  assert.equal(totalLines, 3);
  assert.deepEqual(lines[1]?.text, 'x'.repeat(16_384));
  assert.deepEqual([lines[0]?.cut, lines[1]?.cut, lines[2]?.cut], [undefined, true, undefined]);
  assert.equal(lines[2]?.text, 'after needle');
  const { matches } = await log.search('NEEDLE');
  assert.deepEqual(numbersOf(matches), [2, 3]);
  assert.ok(matches.every(({ text }) => text.length <= 300 && text.includes('needle')));
});

test('other requests have their turn while a long log is searched or downloaded', async (t) => {
  const h = await startQueueWorld(t);
  const log = await setupLog(h);
  const piece = `${'no match in this line of output\n'.repeat(1_600)}`;
  await log.appendText(piece.repeat(120), 50_000);
  for (const work of [() => log.search('absent'), () => log.download()]) {
    const turns = countTurns();
    await work();
    turns.stop();
    assert.ok(turns.turns > 40, `${turns.turns} turns for 6 MB`);
  }
});

test('a caller has 8 searches under way; the others wait', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId, appendText } = await setupLog(h);
  await appendText('no match in this line of output\n'.repeat(1_600).repeat(40), 50_000);
  const { server, limiter } = createBareServer();
  t.after(() => server.close());
  const sharedAnswers = new SharedAnswers(() => false);
  const api = new Api(server, { gatekeeper: createOpenGate(), limiter, sharedAnswers });
  let underWay = 0;
  let most = 0;
  api.bind(jobs.searchLog, async (input, context) => {
    underWay += 1;
    most = Math.max(most, underWay);
    const answer = await searchLog(h.hub.deps, context, input);
    underWay -= 1;
    return answer;
  });
  const payload = { workspaceId: h.workspaceId, jobId, text: 'absent' };
  const answers = await Promise.all(
    Array.from({ length: 4 * READS_MAX }, () =>
      server.inject({ method: 'POST', url: jobs.searchLog.path, payload }),
    ),
  );
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]));
  assert.equal(most, READS_MAX);
});

test('opened and never closed sequences do not slow a search down', async (t) => {
  const h = await startQueueWorld(t);
  const log = await setupLog(h);
  await log.appendText(
    `${'\u001b]8;;a'.repeat(30_000)}\nfound\n${'\u001b['.repeat(50_000)}`,
    30_000,
  );
  const startedMs = performance.now();
  assert.deepEqual(numbersOf((await log.search('found')).matches), [2]);
  assert.ok(performance.now() - startedMs < 5_000, 'a quadratic search takes minutes');
});

test('each attempt has its own log, without late results and with the output of its tool', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId, append, read, search, download } = await setupLog(h);
  await append([{ message: 'one\n' }]);
  await h.complete(jobId, { outcome: 'failed' });
  assert.equal((await read()).isEnded, true);
  await h.call(jobs.retry, { workspaceId: h.workspaceId, jobId });
  const waiting = await read();
  assert.deepEqual([waiting.attempt, waiting.lines[0]?.text], [1, 'one']);
  const { jobToken } = await h.claim();
  const ref = { workspaceId: h.workspaceId, jobId, agentId: h.agentId };
  await h.call(jobEvents.append, { ...ref, entries: [{ logSeq: 1, message: 'two\n' }] });
  await h.call(
    jobEvents.append,
    { ...ref, entries: [{ logSeq: 1, message: 'three\n' }] },
    jobToken,
  );
  const second = await read();
  assert.deepEqual(
    second.lines.map(({ text, stream }) => [text, stream]),
    [
      ['two', undefined],
      ['three', 'tool'],
    ],
  );
  assert.deepEqual([second.attempt, second.isEnded], [2, false]);
  assert.deepEqual(
    second.attempts.map(({ attempt, lines }) => [attempt, lines]),
    [
      [1, 1],
      [2, 2],
    ],
  );
  const first = await read({ attempt: 1 });
  assert.deepEqual([first.lines.map(({ text }) => text), first.isEnded], [['one'], true]);
  assert.deepEqual((await search('o', { attempt: 1 })).matches, [{ line: 1, text: 'one' }]);
  assert.equal((await download({ attempt: 1 })).toString(), 'one\n');
  assert.equal((await download({ attempt: 7 })).length, 0, 'an attempt that there was not');
  // The first attempt reports again: kept as late evidence, which is no output.
  h.clock.advance(90_000_000);
  await h.claim();
  const late = { ...ref, claimGeneration: 2, outcome: 'done' as const, message: 'late' };
  await h.call(jobs.complete, late).catch(() => undefined);
  assert.deepEqual((await read({ attempt: 2 })).totalLines, 2);
  assert.equal((await download({ attempt: 2 })).toString(), 'two\nthree\n');
});

test('a repeated append changes neither lines nor size', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId, read } = await setupLog(h);
  const body = {
    workspaceId: h.workspaceId,
    jobId,
    agentId: h.agentId,
    entries: [
      { logSeq: 1, message: 'a\n' },
      { logSeq: 2, message: 'b\n' },
    ],
  };
  await Promise.all(Array.from({ length: 20 }, () => h.call(jobEvents.append, body)));
  const { totalLines, sizeBytes, lines } = await read();
  assert.deepEqual([totalLines, sizeBytes, lines.length], [2, 4, 2]);
});

test('a retry with another prompt changes the job and keeps the old prompt', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ prompt: 'Old title.\nOld text.' });
  await h.claim();
  const retry = { workspaceId: h.workspaceId, jobId, prompt: 'New title.\nNew text.' };
  await h.refuse(jobs.retry, retry, 'INVALID_REQUEST');
  assert.equal((await h.get(jobId)).job.prompt, 'Old title.\nOld text.', 'nothing half-written');
  await h.complete(jobId, { outcome: 'failed' });
  const { job } = await h.call(jobs.retry, retry);
  assert.deepEqual([job.prompt, job.title, job.status], [retry.prompt, 'New title.', 'pending']);
  assert.deepEqual((await h.get(jobId)).job, job);
  const event = (await h.timeline(jobId)).at(-1);
  assert.equal(event?.data?.previousPrompt, 'Old title.\nOld text.');
  assert.equal((await h.claim()).job?.prompt, retry.prompt, 'the next attempt gets it');
  const audited = await h.hub.database.reader.allSql<{ data: string }>(
    "SELECT data FROM audit_entries WHERE workspace_id = ? AND action = 'job.retry'",
    [h.workspaceId],
  );
  assert.deepEqual(
    audited.map(({ data }) => JSON.parse(data)),
    [{ promptChanged: true }],
  );
});
