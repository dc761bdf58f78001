import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { logSearchQuery } from '../src/api/log-queries.ts';

const ref = { workspaceId: 'ws_1', jobId: 'job_1', attempt: 1 };
afterEach(() => vi.unstubAllGlobals());

/** A hub that has a log of these lines, and searches five of them with each call. */
function serveLog(lines: string[]): number[] {
  const asked: number[] = [];
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    const { text, fromLine } = JSON.parse(body) as { text: string; fromLine: number };
    asked.push(fromLine);
    const until = Math.min(fromLine + 4, lines.length);
    const matches = lines
      .map((line, at) => ({ line: at + 1, text: line }))
      .filter(({ line, text: each }) => line >= fromLine && line <= until && each.includes(text));
    const nextLine = until < lines.length ? until + 1 : null;
    return Response.json({ ok: true, attempt: 1, matches, nextLine });
  });
  return asked;
}

test('the search in a growing log reads on from the last line, which may have been growing', async () => {
  const lines = ['hit', 'no', 'hit', 'no', 'no', 'no', 'a hi'];
  const asked = serveLog(lines);
  const client = new QueryClient();
  const search = (sizeBytes: number) =>
    client.query(logSearchQuery(ref, 'hit', { totalLines: lines.length, sizeBytes }));
  expect((await search(10)).matches.map(({ line }) => line)).toEqual([1, 3]);
  expect(asked.splice(0)).toEqual([1, 6]);
  lines[6] = 'a hit';
  lines.push('hit');
  expect((await search(20)).matches.map(({ line }) => line)).toEqual([1, 3, 7, 8]);
  expect(asked.splice(0)).toEqual([7]);
  expect((await search(30)).matches.map(({ line }) => line)).toEqual([1, 3, 7, 8]);
  expect(asked).toEqual([8]);
});
