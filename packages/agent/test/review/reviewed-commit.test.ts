import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCommandExecutor } from '../../src/index.ts';
import { setupAcp } from '../support/acp-harness.ts';
import { git } from '../support/harness.ts';

const SECRET = 'hunter2-hunter2';
const reported = [
  { file: 'list.txt', line: 2, severity: 'major', message: 'Two.' },
  { file: 'list.txt', line: 3, severity: 'minor', message: 'A secret.' },
  { file: 'list.txt', line: 9, severity: 'minor', message: 'No such line.' },
  { file: '../clone/list.txt', line: 1, severity: 'minor', message: 'Outside.' },
  { file: 'gone.txt', line: 1, severity: 'minor', message: 'No such file.' },
  { file: 'list.txt', severity: 'blocker', message: 'All of it.' },
];

test('a review begins with the commit that it names, and git tells the lines of its findings', async (t) => {
  const h = await setupAcp(t);
  const { workspaceId, repoId, client, directory } = h;
  const start = (command: string, shareChanges: 'patch' | 'stat' = 'patch') =>
    h.start({
      repositories: [{ repoId, path: h.clone, shareChanges }],
      stateDir: join(directory, 'state'),
      executor: createCommandExecutor({ command }),
      env: { ...process.env, DEPLOY_TOKEN: SECRET },
    });
  const first = await start(`printf 'one\\ntwo\\n${SECRET}\\n' > list.txt`);
  const jobId = await h.enqueue('Write a list.');
  const { evidence } = await h.until(jobId, 'done');
  const commitSha = String(evidence?.commitSha);
  await first.stop();
  // A later commit of a person on the branch is another one.
  const place = join(directory, 'person');
  git(h.clone, 'worktree', 'add', '--quiet', place, String(evidence?.branch));
  git(place, 'rm', '--quiet', 'list.txt');
  git(place, 'commit', '--quiet', '-m', 'By hand');
  const lines = reported.map((one) => JSON.stringify({ type: 'finding', ...one }));
  const note = `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}`;
  const reviewing = `cat; cat list.txt; ${note} >> "$SIGNALBOX_REPORT_FILE"; echo x >> list.txt`;
  const draft = { workspaceId, repoId, kind: 'pr_review', reviewsJobId: jobId } as const;
  const agent = await start(reviewing);
  const { jobId: reviewId } = await client.jobs.enqueue({ ...draft, prompt: 'Review it.' });
  const review = await h.until(reviewId, 'done');
  const output = await h.output(reviewId);
  assert.match(output, new RegExp(`You review the commit ${commitSha}`));
  assert.match(output, new RegExp(`git diff ${evidence?.baseSha} ${commitSha}`));
  assert.match(output, /one\ntwo\n/);
  const { reviewedSha, findings, commitSha: own } = review.evidence ?? {};
  assert.deepEqual([reviewedSha, own], [commitSha, undefined]);
  const texts = ['two', '[redacted]', undefined, undefined, undefined, undefined];
  assert.deepEqual(
    findings,
    reported.map((one, at) => ({
      ...one,
      ...(texts[at] === undefined ? {} : { text: texts[at] }),
    })),
  );
  const { reviews } = await client.jobs.get({ workspaceId, jobId });
  assert.deepEqual(reviews, [{ jobId: reviewId, status: 'done' }]);
  await agent.stop();
  await start(reviewing, 'stat');
  const { jobId: otherId } = await client.jobs.enqueue({ ...draft, prompt: 'Review it again.' });
  const other = await h.until(otherId, 'done');
  assert.equal(other.evidence?.reviewedSha, commitSha);
  assert.deepEqual(
    other.evidence?.findings,
    reported,
    'without patches no line leaves the machine',
  );
});
