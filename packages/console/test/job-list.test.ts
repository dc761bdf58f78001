import { describe, expect, test } from 'vitest';
import { describeBulk } from '../src/format/bulk-words.ts';
import { curlOf, enqueueCommandOf } from '../src/format/job-commands.ts';
import { hasGroups, readJobFilters, statusesOf, wireFilters } from '../src/format/job-filters.ts';
import { formatCost } from '../src/format/money.ts';
import { randomKey } from '../src/format/random-key.ts';

describe('filters of the job list', () => {
  test('are read from any URL; what is unknown is dropped', () => {
    expect(
      readJobFilters({ status: 'failed', kind: 'work', repo: ' repo_1 ', since: '7d', q: 12 }),
    ).toEqual({ status: 'failed', kind: 'work', repo: 'repo_1', since: '7d', q: '12' });
    expect(readJobFilters({ mine: true })).toEqual({ mine: true });
    const odd = {
      mine: 'x',
      status: 'odd',
      kind: ['work'],
      repo: {},
      since: 'toString',
      q: '  ',
      x: 1,
    };
    expect(readJobFilters(odd)).toEqual({});
    expect(readJobFilters({ q: 'x'.repeat(500) }).q).toHaveLength(200);
  });

  test('the list has groups until a status or a text is chosen', () => {
    expect(hasGroups({ repo: 'repo_1' })).toBe(true);
    expect(hasGroups({ status: 'all' })).toBe(false);
    expect(hasGroups({ q: 'x' })).toBe(false);
    expect(statusesOf('finished')).toEqual(['done', 'canceled']);
    expect(statusesOf('all')).toBeUndefined();
  });

  test('an age is a time from now', () => {
    const nowMs = Date.parse('2026-11-22T09:00:00.000Z');
    expect(wireFilters({ since: '24h', agent: 'agt_1' }, nowMs)).toEqual({
      agentId: 'agt_1',
      workEnded: false,
      fromAt: '2026-11-21T09:00:00.000Z',
    });
  });
});

describe('the results of a bulk', () => {
  const refused = { result: 'refused', error: 'JOB_ALREADY_FINISHED', message: 'It is done.' };
  test('are told by number, with the reason of refusals', () => {
    const canceled = { jobId: 'a', result: 'changed', status: 'canceled' } as const;
    const done = { jobId: 'b', ...refused, result: 'refused', status: 'done' } as const;
    expect(describeBulk('cancel', [canceled, canceled, canceled, done])).toEqual({
      title: '3 canceled, 1 was already done',
      detail: 'It is done.',
    });
    expect(describeBulk('cancel', [{ ...canceled, status: 'running' }]).title).toBe(
      '1 asked to stop',
    );
    expect(describeBulk('retry', [done, done, { ...done, status: 'canceled' }])).toEqual({
      title: '2 were already done, 1 was already canceled',
    });
    const unknown = { jobId: 'c', result: 'refused', error: 'JOB_NOT_FOUND' } as const;
    expect(describeBulk('retry', [unknown]).title).toBe('1 was not found');
  });
});

describe('the commands of a new job', () => {
  const request = {
    workspaceId: 'ws_1',
    repoId: 'repo_1',
    kind: 'work' as const,
    prompt: "It's $HOME",
    priority: -5,
    delayMs: 90_000,
    dependsOn: ['job_1', 'job_2'],
    requirements: { labels: { os: 'linux' } },
    base: 'release',
    budget: { costUsd: 2.5, timeLimitMs: 90_000 },
  };

  test('quote everything for the shell', () => {
    expect(enqueueCommandOf('http://127.0.0.1:4400', 'acme', request)).toBe(
      'signalbox enqueue --url=http://127.0.0.1:4400 --workspace=acme --repo=repo_1 --kind=work ' +
        '--priority=-5 --delay=90000ms --depends-on=job_1 --depends-on=job_2 ' +
        '--base=release ' +
        `--requirements='{"labels":{"os":"linux"}}' --budget=2.5 --time-limit=90000ms -- 'It'\\''s $HOME'`,
    );
    const curl = curlOf('https://hub.example', '/control-plane/v1/jobs/enqueue', request);
    expect(curl).toContain('curl -sS https://hub.example/control-plane/v1/jobs/enqueue');
    expect(curl).toContain(`"prompt":"It'\\''s $HOME"`);
  });
});

test('a cost is shown in dollars and cents', () => {
  expect([0.84, 1_204, 0, 0.001].map(formatCost)).toEqual([
    '$0.84',
    '$1,204.00',
    '$0.00',
    '<$0.01',
  ]);
});

test('keys differ', () => {
  expect(randomKey()).toMatch(/^[0-9a-f]{32}$/);
  expect(randomKey()).not.toBe(randomKey());
});
