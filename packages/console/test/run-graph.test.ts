import type { RunJob } from '@signalbox/contract';
import { expect, test } from 'vitest';
import { layOutRun } from '../src/format/run-graph.ts';

function job(jobId: string, parentJobId: string | null = null, dependsOn: string[] = []): RunJob {
  return {
    jobId,
    parentJobId,
    dependsOn,
    title: jobId,
    status: 'done',
    kind: 'work',
    agentId: null,
    changed: null,
    startedAt: null,
    finishedAt: null,
    createdAt: '2026-11-02T09:00:00.000Z',
  };
}

const levels = (jobs: RunJob[]) =>
  Object.fromEntries(layOutRun(jobs).nodes.map(({ job: { jobId }, level }) => [jobId, level]));

test('a job is one column to the right of the last job that it follows', () => {
  const jobs = [
    job('a'),
    job('b', 'a'),
    job('c', 'a', ['b']),
    job('d', null, ['a', 'c']),
    job('e'),
  ];
  expect(levels(jobs)).toEqual({ a: 0, b: 1, c: 2, d: 3, e: 0 });
});

test('a parent that is a dependency, too, is one edge', () => {
  const { edges } = layOutRun([job('a'), job('b', 'a', ['a'])]);
  expect(edges.map(({ kind }) => kind)).toEqual(['child']);
});

test('edges to jobs outside the graph, and to itself, are left out', () => {
  const { nodes, edges } = layOutRun([job('a', 'gone', ['a', 'gone'])]);
  expect([nodes.length, edges.length]).toEqual([1, 0]);
});

test('jobs that follow each other in a circle are drawn all the same', () => {
  const { nodes } = layOutRun([job('a', null, ['b']), job('b', null, ['a'])]);
  expect(nodes.length).toBe(2);
});

test('no two jobs have the same place, and all are within the drawing', () => {
  const jobs = Array.from({ length: 60 }, (_, at) =>
    job(`j${at}`, at === 0 ? null : `j${Math.floor((at - 1) / 3)}`),
  );
  const { nodes, width, height } = layOutRun(jobs);
  expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(60);
  expect(Math.max(...nodes.map(({ x }) => x))).toBeLessThan(width);
  expect(Math.max(...nodes.map(({ y }) => y))).toBeLessThan(height);
});

test('children are beside their parents, so that lines do not cross', () => {
  const jobs = [job('a'), job('b'), job('b1', 'b'), job('a1', 'a')];
  const { nodes } = layOutRun(jobs);
  const yOf = (jobId: string) => nodes.find((node) => node.job.jobId === jobId)?.y ?? -1;
  expect(yOf('a1')).toBeLessThan(yOf('b1'));
});
