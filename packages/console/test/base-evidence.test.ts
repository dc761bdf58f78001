import { expect, test } from 'vitest';
import { readEvidence } from '../src/format/evidence.ts';

test('the base of a job is read as far as its agent tells it in a known form', () => {
  const read = (buildsOn: unknown) => readEvidence({ buildsOn }).buildsOn;
  const part = { jobId: 'job_1', commitSha: 'a1' };
  const none = { commitSha: undefined, branch: undefined, jobs: [] };
  expect(read({ commitSha: 'b2', branch: 'main', jobs: [part] })).toEqual({
    commitSha: 'b2',
    branch: 'main',
    jobs: [part],
  });
  expect(read({ commitSha: 1, branch: ['main'], jobs: 'job_1' })).toEqual(none);
  expect(read({ jobs: [null, 'job_1', { jobId: 2 }] })).toEqual(none);
  expect(read('main')).toBeUndefined();
});
