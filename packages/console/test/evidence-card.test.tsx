import type { Evidence, Job } from '@signalbox/contract';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { EvidenceCard } from '../src/job/evidence-card.tsx';
import { click, render } from './rendering.ts';

afterEach(() => vi.unstubAllGlobals());

/** The evidence of the contract with the fields that only the agent knows. */
type AnyEvidence = Evidence & Record<string, unknown>;

async function cardOf(evidence: AnyEvidence): Promise<HTMLElement> {
  // The card reads these fields of a job only.
  const job = { workspaceId: 'ws_1', evidence, changed: true } as Job;
  const card = (
    <QueryClientProvider client={new QueryClient()}>
      <EvidenceCard job={job} />
    </QueryClientProvider>
  );
  return (await render(card)).box;
}

function textsIn(box: ParentNode, selector: string): (string | null)[] {
  return [...box.querySelectorAll(selector)].map(({ textContent }) => textContent);
}

const commit = { commitSha: 'a'.repeat(40), branch: 'signalbox/job_1-1' };

test('the card shows each check, and the output of one that failed', async () => {
  const box = await cardOf({
    ...commit,
    verdict: 'gaps',
    checks: [
      { name: 'npm test', command: 'npm test', outcome: 'passed', exitCode: 0, durationMs: 8_400 },
      {
        name: 'npm run lint',
        command: 'npm run lint',
        outcome: 'failed',
        exitCode: 2,
        durationMs: 900,
        output: '<b>1 error</b>',
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

test('the card says what kept the tool from the machine, and nothing that it was not told', async () => {
  const isolation = { rungs: ['wrap'], proved: ['writes', 'end'], user: 'ada' };
  const box = await cardOf({ ...commit, executor: { isolation } });
  expect(box.textContent).toContain('Isolation: wrap, as ada. Tried: it cannot write outside of');
  const none = { rungs: [], proved: [], user: 'ada' };
  const open = await cardOf({ ...commit, executor: { isolation: none } });
  expect(open.textContent).toContain('Isolation: none: the tool can do what its user can, as ada');
  for (const told of [undefined, 'wrap', { rungs: 'wrap' }, { rungs: [1], proved: [] }]) {
    const silent = await cardOf({ ...commit, executor: { isolation: told } });
    expect(silent.textContent).not.toContain('Isolation');
  }
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

test.each([
  ['verified', 'Verified', 'All checks passed'],
  ['gaps', 'Has gaps', 'A part of the proof is missing.'],
  ['unverified', 'Not verified', 'No checks are configured'],
] as const)('the verdict %s says what it means', async (verdict, word, meaning) => {
  const box = await cardOf({ ...commit, verdict });
  expect(box.textContent).toContain(word);
  expect(box.textContent).toContain(meaning);
});

test('the card warns of refused commands, with each of them, and folds a long list', async () => {
  const denied = ['Bash: npm test', 'Bash: <i>rm</i> -rf /', 'c', 'd', 'e', 'f', 'g'];
  const box = await cardOf({ executor: { name: 'claude', denied } });
  const warning = box.querySelector('[aria-label="The tool was not allowed to run 7 commands"]');
  expect(textsIn(warning ?? box, 'li')).toEqual(denied);
  expect(textsIn(warning ?? box, 'details li')).toEqual(['f', 'g']);
  expect(warning?.textContent).toContain('tool.allow');
});

test('the card names the changed files with a secret, and says not to push', async () => {
  const box = await cardOf({ ...commit, secretsIn: ['.env', 'src/key.ts'] });
  const warning = box.querySelector('[aria-label="Changed files contain a secret of the agent"]');
  expect(textsIn(warning ?? box, 'li')).toEqual(['.env', 'src/key.ts']);
  expect(warning?.textContent).toContain('Do not push it');
});

test('checks that the tool reported are apart from those that the agent ran', async () => {
  const box = await cardOf({
    ...commit,
    reported: [
      { check: 'Page load', outcome: 'passed', detail: '1.2 s', link: 'https://ci.acme.test/7' },
      { check: 'Contrast', outcome: 'failed', link: 'javascript:alert(1)' },
      { check: 'Safari', outcome: 'skipped' },
      { outcome: 'great' },
    ],
  });
  const list = box.querySelector('[aria-labelledby=reported]');
  expect(list?.textContent).toContain('Reported by the tool, not verified');
  expect(textsIn(list ?? box, 'li')).toEqual([
    'Page loadpassed1.2 shttps://ci.acme.test/7',
    'Contrastfailed',
    'Safariskipped',
    'A check without a name',
  ]);
  expect(list?.querySelectorAll('a')).toHaveLength(1);
});

test('an attached file has its name and size, and is saved through a signed URL', async () => {
  const saved: string[] = [];
  const answer = { ok: true, downloadUrl: 'https://hub.acme.test/bytes?x=1', fileName: 'a.png' };
  const fetched = vi.fn(async () => Response.json(answer));
  vi.stubGlobal('fetch', fetched);
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    saved.push(`${this.download} ${this.href}`);
  });
  const box = await cardOf({
    attachments: [
      { uploadId: 'upl_1', fileName: 'a.png', contentType: 'image/png', sizeBytes: 48_213 },
      { fileName: 'without an id' },
    ],
  });
  expect(textsIn(box, 'li')).toEqual(['a.png47 KBDownload']);
  const button = box.querySelector('button[aria-label="Download a.png"]');
  await click(button ?? box);
  await vi.waitFor(() => expect(saved).toEqual(['a.png https://hub.acme.test/bytes?x=1']));
  expect(fetched.mock.calls).toHaveLength(1);
});

test('a file that is gone says so, once', async () => {
  const refusal = { error: 'UPLOAD_NOT_FOUND', message: 'The upload does not exist.' };
  vi.stubGlobal('fetch', async () => Response.json({ ok: false, ...refusal }, { status: 404 }));
  const box = await cardOf({ attachments: [{ uploadId: 'upl_1', fileName: 'a.png' }] });
  await click(box.querySelector('button[aria-label="Download a.png"]') ?? box);
  await vi.waitFor(() => expect(box.textContent).toContain('The upload does not exist.'));
  expect(box.textContent?.split('The upload does not exist.')).toHaveLength(2);
});
