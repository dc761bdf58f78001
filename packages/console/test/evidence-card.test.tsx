import type { Evidence, Job } from '@signalbox/contract';
import { expect, test } from 'vitest';
import { EvidenceCard } from '../src/job/evidence-card.tsx';
import { render } from './rendering.ts';

async function cardOf(evidence: Evidence): Promise<HTMLElement> {
  // The card reads these two fields of a job only.
  const job = { evidence, changed: true } as Job;
  return (await render(<EvidenceCard job={job} />)).box;
}

const commit = { commitSha: 'a'.repeat(40), branch: 'signalbox/job_1-1' };

test('the card shows each check, and the output of one that failed', async () => {
  const box = await cardOf({
    ...commit,
    verdict: 'gaps',
    checks: [
      { name: 'npm test', command: 'npm test', outcome: 'passed', exitCode: 0, durationMs: 8_400 },
      {
        ...{ name: 'npm run lint', command: 'npm run lint', outcome: 'failed', exitCode: 2 },
        ...{ durationMs: 900, output: '<b>1 error</b>' },
      },
      { name: 'e2e', command: 'e2e', outcome: 'timed_out', durationMs: 600_000 },
    ],
    gaps: ['Check npm run lint exited with 2.', 'Not pushed: the clone has no remote origin.'],
  });
  expect(box.textContent).toContain('Has gaps');
  const rows = [...box.querySelectorAll('li')].map((row) => row.textContent);
  expect(rows[0]).toMatch(/^npm testpassed · 8/);
  expect(rows[1]).toMatch(/exit 2.*<b>1 error<\/b>$/);
  expect(rows[2]).toMatch(/timed out/);
  expect(box.querySelectorAll('details').length).toBe(1);
  expect(box.textContent).toContain('Not pushed: the clone has no remote origin.');
  expect(box.textContent).not.toContain('Check npm run lint');
});

test('the card links the pull request, but never to a script', async () => {
  const url = 'https://git.acme.test/acme/api/pull/7';
  const box = await cardOf({ ...commit, pushedTo: 'origin', pullRequestUrl: url });
  expect(box.querySelector('a')?.href).toBe(url);
  expect(box.textContent).toContain('pushed to origin');
  const hostile = await cardOf({ ...commit, pullRequestUrl: 'javascript:alert(1)' });
  expect(hostile.querySelector('a')).toBeNull();
});

test('evidence of another form does not break the card', async () => {
  const odd = { verdict: 'great', checks: 'all green', gaps: { a: 1 }, pullRequestUrl: 7 };
  const box = await cardOf({ ...commit, ...odd });
  expect(box.textContent).toContain('aaaaaaaaaaaa');
  expect(box.textContent).not.toContain('great');
});
