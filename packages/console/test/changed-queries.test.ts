import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ChangedQueries, isMadeOld } from '../src/live/use-live.ts';

describe('a change of a record', () => {
  test('makes the lists and the pages that show it old', () => {
    const job = { kind: 'job', id: 'job_1' } as const;
    expect(isMadeOld(['jobs', 'ws_1', {}], job)).toBe(true);
    expect(isMadeOld(['job', 'ws_1', 'job_1'], job)).toBe(true);
    expect(isMadeOld(['job', 'ws_1', 'job_2'], job)).toBe(false);
    expect(isMadeOld(['job', 'ws_1', 'job_2'], { kind: 'job', id: null })).toBe(true);
    expect(isMadeOld(['job-log', 'ws_1', 'job_1', 1], { kind: 'jobEvents', id: 'job_1' })).toBe(
      true,
    );
    const comment = { kind: 'reviewComment', id: 'job_1' } as const;
    expect(isMadeOld(['review-comments', 'ws_1', 'job_1'], comment)).toBe(true);
    expect(isMadeOld(['review-comments', 'ws_1', 'job_2'], comment)).toBe(false);
    expect(isMadeOld(['job', 'ws_1', 'job_2'], { kind: 'uncertainty', id: 'unc_1' })).toBe(true);
    expect(isMadeOld(['members', 'ws_1'], job)).toBe(false);
  });

  test('makes the page of a round old, if it is of its work or its landing', () => {
    const key = ['job', 'ws_1', 'job_3'];
    const landing = { jobId: 'job_4' };
    const data = { rounds: [{ jobId: 'job_2' }], work: { workJobId: 'job_1', landing } };
    for (const id of ['job_1', 'job_2', 'job_4']) {
      expect(isMadeOld(key, { kind: 'job', id }, data)).toBe(true);
    }
    expect(isMadeOld(key, { kind: 'reviewComment', id: 'job_1' }, data)).toBe(true);
    expect(isMadeOld(key, { kind: 'job', id: 'job_5' }, data)).toBe(false);
    expect(isMadeOld(key, { kind: 'jobEvents', id: 'job_4' }, data)).toBe(false);
  });
});

describe('changed queries', () => {
  let client: QueryClient;
  let changed: ChangedQueries;
  let reads: (() => void)[];

  beforeEach(() => {
    vi.useFakeTimers();
    client = new QueryClient();
    changed = new ChangedQueries(client);
    reads = [];
    const observer = new QueryObserver(client, {
      queryKey: ['jobs', 'ws_1'],
      queryFn: () => new Promise<number>((resolve) => reads.push(() => resolve(reads.length))),
    });
    observer.subscribe(() => undefined);
  });
  afterEach(() => {
    changed.close();
    vi.useRealTimers();
  });

  const change = () => changed.add('ws_1', [{ kind: 'job', id: 'job_1' }]);
  const finishRead = async () => {
    reads.at(-1)?.();
    await vi.advanceTimersByTimeAsync(0);
  };

  test('are read at once, then not again before a pause', async () => {
    await finishRead();
    change();
    await vi.advanceTimersByTimeAsync(0);
    expect(reads.length).toBe(2);
    await finishRead();
    change();
    await vi.advanceTimersByTimeAsync(100);
    expect(reads.length).toBe(2);
    await vi.advanceTimersByTimeAsync(500);
    expect(reads.length).toBe(3);
  });

  test('are not read again where a failure is shown in place of data', async () => {
    let failures = 0;
    const observer = new QueryObserver(client, {
      queryKey: ['job', 'ws_1', 'job_1'],
      queryFn: () => Promise.reject(new Error(`failure ${++failures}`)),
      retry: false,
    });
    observer.subscribe(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    expect(failures).toBe(1);
    change();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(failures).toBe(1);
    expect(observer.getCurrentResult().isError).toBe(true);
  });

  test('are read less often in a long burst, and often again after a pause', async () => {
    await finishRead();
    const readsIn = async (ms: number) => {
      const before = reads.length;
      for (let at = 0; at < ms; at += 50) {
        change();
        await finishRead();
        await vi.advanceTimersByTimeAsync(50);
      }
      return reads.length - before;
    };
    await readsIn(3_000);
    expect(await readsIn(10_000)).toBeLessThanOrEqual(11);
    await finishRead();
    await vi.advanceTimersByTimeAsync(5_000);
    await finishRead();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await readsIn(350)).toBe(2);
  });

  test('of which a read is under way are read again as soon as it has ended', async () => {
    change();
    await vi.advanceTimersByTimeAsync(100);
    expect(reads.length).toBe(1);
    await finishRead();
    await vi.advanceTimersByTimeAsync(60);
    expect(reads.length).toBe(2);
  });

  test('of which a read is under way are read once more after it, and it is not cut off', async () => {
    for (let at = 0; at < 20; at++) {
      change();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(reads.length).toBe(1);
    await finishRead();
    await vi.advanceTimersByTimeAsync(500);
    expect(reads.length).toBe(2);
  });

  test('of another workspace stay', async () => {
    await finishRead();
    changed.add('ws_2', [{ kind: 'job', id: 'job_1' }]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reads.length).toBe(1);
  });
});
