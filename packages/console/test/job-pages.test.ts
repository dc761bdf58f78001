import type { ListedJob } from '@signalbox/contract';
import { describe, expect, test } from 'vitest';
import {
  isInRange,
  type JobPage,
  jobsOfPages,
  pagesBetween,
  putPage,
  readPageAgain,
} from '../src/api/job-pages.ts';
import { linesOfGroups, withoutDoubles } from '../src/job-list/use-job-list.ts';
import { isMadeOld } from '../src/live/use-live.ts';

/** A job of a list; ids have one width, so that they fall as numbers do. */
function jobOf(number: number, title = 'Fix the build'): ListedJob {
  // Only these fields are read here.
  return { jobId: idOf(number), title, status: 'done' } as ListedJob;
}

const idOf = (number: number) => `job_${String(number).padStart(3, '0')}`;

function pageOf(numbers: readonly number[], nextCursor: string | null): JobPage {
  const jobs = numbers.map((each) => jobOf(each));
  const untilId = nextCursor === null ? '' : (jobs.at(-1)?.jobId ?? null);
  return { jobs, nextCursor, untilId, readAtMs: 1 };
}

/** Reads from jobs that are on the hub, a few at a time; a cursor is the id before the part. */
function hubWith(numbers: readonly number[], limit: number) {
  const reads: string[] = [];
  const read = async (cursor: string) => {
    reads.push(cursor);
    const rest = numbers.filter((each) => cursor === '' || idOf(each) < cursor);
    const part = rest.slice(0, limit);
    const nextCursor = rest.length > limit ? idOf(part.at(-1) as number) : null;
    return { jobs: part.map((each) => jobOf(each)), nextCursor };
  };
  return { read, reads };
}

const numbersOf = (jobs: readonly ListedJob[]) => jobs.map(({ jobId }) => Number(jobId.slice(4)));

describe('a page that is read again', () => {
  const range = { beforeId: null, untilId: idOf(7) };

  test('ends where it ended, however many jobs are new', async () => {
    const { read, reads } = hubWith([12, 11, 10, 9, 8, 7, 6, 5], 3);
    const page = await readPageAgain(read, '', range);
    expect(numbersOf(page.jobs)).toEqual([12, 11, 10, 9, 8, 7]);
    expect(page).toMatchObject({ isWhole: true, untilId: idOf(7) });
    expect(reads).toEqual(['', idOf(10)]);
  });

  test('reaches beyond its end when jobs have left it, and its end stays', async () => {
    const page = await readPageAgain(hubWith([9, 6, 5, 4], 3).read, '', range);
    expect(numbersOf(page.jobs)).toEqual([9, 6, 5]);
    expect(page).toMatchObject({ isWhole: true, untilId: idOf(7) });
  });

  test('that has grown too far is not whole: the list begins again behind it', async () => {
    const many = Array.from({ length: 100 }, (_, at) => 200 - at);
    const { read, reads } = hubWith(many, 3);
    const page = await readPageAgain(read, '', range);
    expect(reads.length).toBe(5);
    expect(page).toMatchObject({ isWhole: false, untilId: idOf(186), nextCursor: idOf(186) });
  });

  test('of an unknown end is read once', async () => {
    const { read, reads } = hubWith([9, 8, 7, 6], 2);
    const page = await readPageAgain(read, '', { beforeId: null, untilId: null });
    expect([page.isWhole, page.untilId, reads.length]).toEqual([true, null, 1]);
  });

  test('ends the list when no more jobs follow', async () => {
    const page = await readPageAgain(hubWith([9, 8], 3).read, '', range);
    expect(page).toMatchObject({ isWhole: false, untilId: '', nextCursor: null });
  });
});

describe('the pages of a list', () => {
  const pages = [pageOf([9, 8, 7], 'b'), pageOf([6, 5, 4], 'c'), pageOf([3], null)];
  const list = { pages, pageParams: ['', 'b', 'c'] };

  test('take a page that was read again; jobs that are as they were stay the same objects', () => {
    const fresh = { ...pageOf([10, 9, 7], 'b'), untilId: idOf(7), isWhole: true };
    const next = putPage(list, '', fresh);
    expect(numbersOf(jobsOfPages(next.pages))).toEqual([10, 9, 7, 6, 5, 4, 3]);
    expect(next.pages[0]?.jobs[1]).toBe(pages[0]?.jobs[0]);
    expect(next.pages[0]).not.toHaveProperty('isWhole');
    expect(next.pageParams).toEqual(['', 'b', 'c']);
  });

  test('lose those behind a page that is not whole, so that the list has no gap', () => {
    const next = putPage(list, 'b', { ...pageOf([6, 5], 'x'), isWhole: false });
    expect(numbersOf(jobsOfPages(next.pages))).toEqual([9, 8, 7, 6, 5]);
    expect([next.pageParams, next.pages.at(-1)?.nextCursor]).toEqual([['', 'b'], 'x']);
  });

  test('stay as they are when the page is no longer among them', () => {
    expect(putPage(list, 'gone', { ...pageOf([1], null), isWhole: true })).toEqual(list);
  });

  test('show each job once, newest first, where one reaches into the next', () => {
    const overlapping = [pageOf([9, 6, 5], 'b'), pageOf([6, 5, 4], null)];
    expect(numbersOf(jobsOfPages(overlapping))).toEqual([9, 6, 5, 4]);
  });

  test('are found by the jobs in view', () => {
    expect(pagesBetween(pages, idOf(9), idOf(8))).toEqual({ from: 0, to: 0 });
    expect(pagesBetween(pages, idOf(7), idOf(6))).toEqual({ from: 0, to: 1 });
    expect(pagesBetween(pages, idOf(5), idOf(3))).toEqual({ from: 1, to: 2 });
    expect(pagesBetween([], idOf(5), idOf(3))).toEqual({ from: -1, to: -1 });
    expect(pagesBetween([pageOf([], 'b'), pageOf([3], null)], idOf(3), idOf(3)).from).toBe(1);
  });
});

describe('a change of a job', () => {
  const keyOf = (beforeId: string | null, untilId: string | null) => [
    ...['job-page', 'ws_1', { beforeId, untilId }, 'cursor'],
  ];

  test('makes only the page old that has its id', () => {
    const change = { kind: 'job', id: idOf(5) } as const;
    expect(isMadeOld(keyOf(idOf(7), idOf(4)), change)).toBe(true);
    expect(isMadeOld(keyOf(idOf(5), idOf(4)), change)).toBe(false);
    expect(isMadeOld(keyOf(null, idOf(6)), change)).toBe(false);
    expect(isMadeOld(keyOf(null, idOf(5)), change)).toBe(true);
    expect(isMadeOld(keyOf(idOf(7), null), change)).toBe(true);
  });

  test('of an unknown id makes every page old, as does a change of its agent', () => {
    expect(isMadeOld(keyOf(idOf(7), idOf(4)), { kind: 'job', id: null })).toBe(true);
    expect(isMadeOld(keyOf(idOf(7), idOf(4)), { kind: 'agent', id: 'agt_1' })).toBe(true);
    expect(isMadeOld(keyOf(idOf(7), idOf(4)), { kind: 'member', id: 'per_1' })).toBe(false);
  });

  test('an id is in a range with its end and without its beginning', () => {
    const range = { beforeId: idOf(7), untilId: idOf(4) };
    expect([7, 6, 4, 3].map((each) => isInRange(range, idOf(each)))).toEqual([
      ...[false, true, true, false],
    ]);
  });
});

test('a job that two groups have is in the one that was read last, or in the later one', () => {
  const page = (...numbers: number[]) => ({ jobs: numbers.map((n) => jobOf(n)), nextCursor: null });
  const read = (data: ReturnType<typeof page> | undefined, dataUpdatedAt: number) => ({
    data,
    dataUpdatedAt,
  });
  const idsOf = (...reads: ReturnType<typeof read>[]) =>
    withoutDoubles(reads).map((found) => found?.jobs.map(({ jobId }) => jobId));
  const [nine, eight, seven] = [9, 8, 7].map(idOf);
  expect(idsOf(read(page(9, 8), 1), read(page(8, 7), 2))).toEqual([[nine], [eight, seven]]);
  expect(idsOf(read(page(9, 8), 2), read(page(8, 7), 1))).toEqual([[nine, eight], [seven]]);
  expect(idsOf(read(page(8), 1), read(undefined, 0), read(page(8), 1))).toEqual([
    ...[[], undefined, [eight]],
  ]);
  const same = page(9);
  expect(withoutDoubles([read(same, 1), read(page(8), 2)])[0]).toBe(same);
});

test('a group has ten jobs until it is opened, and none while it is collapsed', () => {
  const jobs = Array.from({ length: 12 }, (_, at) => jobOf(50 - at));
  const counts = { pending: 0, running: 12, blocked: 0, done: 0, failed: 0, canceled: 0 };
  const shown = (states: Parameters<typeof linesOfGroups>[2]) =>
    linesOfGroups([undefined, { jobs, nextCursor: null }], { counts, capped: [] }, states).map(
      (line) => (line.type === 'more' ? `${line.count} more` : line.type),
    );
  expect(shown({})).toEqual(['group', ...Array(10).fill('job'), '2 more']);
  expect(shown({ running: 'opened' })).toEqual(['group', ...Array(12).fill('job')]);
  expect(shown({ running: 'collapsed' })).toEqual(['group']);
});

test('the lines of groups: a heading with its count, the jobs, and the way to more', () => {
  const counts = { pending: 1_000, running: 1, blocked: 0, done: 2, failed: 1, canceled: 0 };
  const lines = linesOfGroups(
    [
      { jobs: [], nextCursor: null },
      { jobs: [jobOf(9)], nextCursor: null },
      undefined,
      { jobs: [jobOf(8), jobOf(7)], nextCursor: 'more' },
      { jobs: [jobOf(6)], nextCursor: null },
    ],
    { counts, capped: ['pending'] },
    { finished: 'collapsed' },
  );
  expect(
    lines.map((line) => {
      if (line.type === 'group') return `${line.group.word} ${line.count}`;
      return line.type === 'job' ? line.job.jobId : `${line.count} more of ${line.group.word}`;
    }),
  ).toEqual([
    ...['Running 1', idOf(9), 'Queued 1,000+', idOf(8), idOf(7), '998+ more of Queued'],
    'Finished 2',
  ]);
});
