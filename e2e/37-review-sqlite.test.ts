import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditSchemes } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { joinWorkspace, lendSession, type SignedIn } from './person.ts';
import { desktop, phone, untilFocused } from './reviewer.ts';

const owner = ownerOf('review');
const { hub, browser } = usePagePlace({ after });

const baseSha = 'a'.repeat(40);
const commitSha = 'b'.repeat(40);
const branch = 'signalbox/orders';

const patch = [
  'diff --git a/src/orders.ts b/src/orders.ts',
  '--- a/src/orders.ts',
  '+++ b/src/orders.ts',
  '@@ -1,4 +1,8 @@ orders',
  " import { readAll } from './store.ts';",
  ' ',
  '-export function total(): number {',
  '+export function total(list = readAll()): number {',
  '+  let sum = 0;',
  '+  for (const { price } of list) sum += price;',
  '+  return sum;',
  '+}',
  ' // The end of the file.',
  'diff --git a/docs/old.md b/docs/orders.md',
  'similarity index 80%',
  'rename from docs/old.md',
  'rename to docs/orders.md',
  '--- a/docs/old.md',
  '+++ b/docs/orders.md',
  '@@ -1 +1 @@',
  '-# Old',
  '+# Orders',
  'diff --git a/package-lock.json b/package-lock.json',
  '--- a/package-lock.json',
  '+++ b/package-lock.json',
  '@@ -1 +1 @@',
  '-{"lockfileVersion":2}',
  '+{"lockfileVersion":3}',
  'diff --git a/docs/logo.png b/docs/logo.png',
  'new file mode 100644',
  'Binary files /dev/null and b/docs/logo.png differ',
  '',
].join('\n');

/** The changes of the second round, from a file that the first one has written. */
const roundSha = 'd'.repeat(40);
const roundPatch = [
  'diff --git a/src/orders.ts b/src/orders.ts',
  '--- a/src/orders.ts',
  '+++ b/src/orders.ts',
  '@@ -2,6 +2,5 @@ orders',
  ' ',
  ' export function total(list = readAll()): number {',
  '   let sum = 0;',
  '-  // Of the first round.',
  '   for (const { price } of list) sum += price;',
  '-  return sum + 0;',
  '+  return sum;',
  '',
].join('\n');

describe('the review of a job, in a browser', { skip: browserMissing }, () => {
  let ada: SignedIn;
  let client: Client;
  let place: { workspaceId: string; agentId: string };
  let repoId: string;
  let firstId: string;
  let secondId: string;
  let visit: Visit;
  let page: Page;
  let phoneVisit: Visit;
  let phonePage: Page;

  before(async () => {
    ada = await makeWorkspace(owner);
    const { workspaceId } = ada;
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    const remoteUrlHash = 'e5'.repeat(32);
    ({ repoId } = await client.repositories.upsert({ workspaceId, label: 'a/b', remoteUrlHash }));
    const { agentId } = await beat([]);
    place = { workspaceId, agentId };
    const prompt = 'Sum the orders.';
    ({ jobId: firstId } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      kind: 'work',
      prompt,
    }));
    await complete(firstId);
    visit = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
    phoneVisit = await openVisit(browser, hub.baseUrl, phone);
    await lendSession(phoneVisit.context, await joinWorkspace(ada, 'Grace Hopper', 'member'));
    phonePage = await phoneVisit.context.newPage();
  });

  const beat = (changesOnRequest: string[]) =>
    client.agents.heartbeat({
      workspaceId: ada.workspaceId,
      displayName: 'build-7',
      machineFingerprint: 'build-7',
      capabilities: {
        canWrite: true,
        reposAllowed: [repoId],
        maxConcurrentJobs: 5,
        changesOnRequest,
      },
    });

  type Fates = NonNullable<Parameters<Client['jobs']['complete']>[0]['commentFates']>;

  /** Claims the job, and ends it with the patch as its agent would. */
  async function complete(
    jobId: string,
    fates: (claim: number) => Promise<Fates> = async () => [],
  ) {
    const claimed = await client.jobs.claimNext(place);
    assert.equal(claimed.jobId, jobId);
    const claimGeneration = claimed.claimGeneration ?? 0;
    const upload = async (text: string) => {
      const { uploadId, uploadUrl } = await client.uploads.create({
        workspaceId: place.workspaceId,
        fileName: 'job.patch',
        contentType: 'text/x-diff',
        sizeBytes: text.length,
        job: { jobId, agentId: place.agentId, claimGeneration },
      });
      assert.equal((await fetch(uploadUrl, { method: 'PUT', body: text })).status, 200);
      return { uploadId, sizeBytes: text.length };
    };
    const isLater = (claimed.job?.round ?? 1) > 1;
    const ofRound = isLater && {
      roundBaseSha: roundSha,
      roundPatch: await upload(roundPatch),
    };
    const check = { name: 'lint', command: 'lint', durationMs: 9, exitCode: 1 };
    await client.jobs.complete({
      ...place,
      jobId,
      claimGeneration,
      outcome: 'done',
      message: 'Summed.',
      evidence: {
        baseSha,
        commitSha,
        branch,
        patch: await upload(patch),
        ...ofRound,
        changedFiles: ['src/orders.ts', 'docs/orders.md', 'package-lock.json', 'docs/logo.png'],
        checks: [{ ...check, outcome: 'failed', output: 'src/orders.ts:5:3: no loops, please' }],
      },
      commentFates: await fates(claimGeneration),
    });
  }

  const pathOf = (jobId: string) => `/w/${owner.workspaceSlug}/jobs/${jobId}?tab=changes`;
  const audit = async (on: Page, view: string) =>
    assert.deepEqual(await auditSchemes(on, view), []);

  it('shows the changes by file, with failed checks on their lines', async () => {
    await page.goto(pathOf(firstId));
    await page.getByText('0 of 4 files viewed').waitFor();
    await page.getByText('no loops, please').waitFor();
    await page.getByText('An image: its content is not shown.').waitFor();
    assert.equal(await page.getByText('lockfileVersion').count(), 0, 'generated files are folded');
    await page.locator('.hljs-keyword').first().waitFor();
    await audit(page, 'review-changes-desktop');
  });

  it('takes a comment on two lines by keyboard alone', async () => {
    await page.keyboard.press('j');
    await page
      .getByRole('button', { name: 'src/orders.ts', exact: true })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('n');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('c');
    const form = page.getByRole('form', { name: 'New comment' });
    await form.getByText('Comment on lines 4 to 5 of').waitFor();
    await audit(page, 'review-composer-desktop');
    await page.keyboard.type('Use reduce here.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Draft', { exact: true }).waitFor();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send 1 comment' }).waitFor();
    await untilFocused(page.getByRole('button', { name: /^Comment on line 5, added/ }));
  });

  it('marks a file as viewed by its key, for the next visit too', async () => {
    await page.getByRole('button', { name: /^Comment on line 1: import/ }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('v');
    await page.getByText('1 of 4 files viewed').waitFor();
    await page.reload();
    await page.getByText('1 of 4 files viewed').waitFor();
  });

  it('shows lines side by side, and without changes of white space', async () => {
    await page.getByRole('button', { name: 'Side by side' }).click();
    await page.getByRole('button', { name: 'One column' }).waitFor();
    await audit(page, 'review-split-desktop');
    await page.getByRole('button', { name: 'One column' }).click();
    await page.getByRole('button', { name: 'Hide white space' }).click();
    await page.getByRole('button', { name: 'Show white space' }).click();
  });

  it('has a second reviewer on a phone, who sees the drafts, comments and sends all', async () => {
    await phonePage.goto(pathOf(firstId));
    await phonePage.getByText('Use reduce here.').waitFor();
    assert.equal(await phonePage.getByRole('button', { name: 'Edit' }).count(), 0);
    await phonePage.getByRole('button', { name: /^Comment on line 3, added/ }).tap();
    const form = phonePage.getByRole('form', { name: 'New comment' });
    await form.getByRole('button', { name: 'One line more' }).tap();
    await form.getByText('Comment on lines 3 to 4 of').waitFor();
    await form.getByRole('textbox').fill('Name the **unit** of the price.');
    await audit(phonePage, 'review-composer-phone');
    await form.getByRole('button', { name: 'Save draft' }).tap();
    await phonePage.getByRole('button', { name: 'Send 2 comments' }).tap();
    await phonePage.getByRole('dialog', { name: 'Send 2 comments' }).waitFor();
    await audit(phonePage, 'review-send-phone');
    await phonePage.getByRole('button', { name: 'Start the round' }).tap();
    await phonePage.getByText('Round 2 is in the queue').first().waitFor();
    await phonePage.waitForURL((url) => !url.pathname.endsWith(firstId));
    secondId = new URL(phonePage.url()).pathname.split('/').at(-1) ?? '';
    // The first reviewer sees that their draft was sent.
    await page.getByText('sent in round 2').first().waitFor();
    await page.getByText('Round 2 continues this work').waitFor();
  });

  it('shows what the tool says of each comment beside what git says', async () => {
    const { workspaceId } = place;
    await complete(secondId, async (claimGeneration) => {
      const answer = { ...place, jobId: secondId, claimGeneration };
      const { comments } = await client.reviewComments.list({ workspaceId, jobId: secondId });
      const numbers = comments.map(({ number }) => number);
      assert.deepEqual(numbers, [1, 2]);
      await client.reviewComments.answer({ ...answer, number: 1, word: 'changed', note: 'Done.' });
      const note = 'All prices are cents.';
      await client.reviewComments.answer({ ...answer, number: 2, word: 'disagree', note });
      const place4 = { path: 'src/orders.ts', startLine: 4, endLine: 5 };
      return [
        { number: 1, state: 'untouched', ...place4 },
        { number: 2, state: 'outdated', path: null, startLine: null, endLine: null },
      ];
    });
    // From page to page: another round has marks of its own.
    await page.getByRole('link', { name: 'sent in round 2' }).first().click();
    await page.getByText('0 of 4 files viewed').waitFor();
    await page.goBack();
    await page.getByText('1 of 4 files viewed').waitFor();
    await page.goForward();
    await page.getByText('0 of 4 files viewed').waitFor();
    await page.getByText('2 open threads').waitFor();
    await page.getByText('Git: lines untouched').waitFor();
    await page.getByText('The tool says that it has changed them.').waitFor();
    await page.getByText('All prices are cents.').waitFor();
    await page.getByText('these lines are not in the result any more').waitFor();
    await audit(page, 'review-fates-desktop');
    await phonePage.goto(pathOf(secondId));
    await phonePage.getByText('Git: lines untouched').waitFor();
    await audit(phonePage, 'review-fates-phone');
  });

  it('shows what has changed since the round before, with the same threads', async () => {
    await page.getByRole('link', { name: 'Since round 1' }).click();
    await page.getByText('0 of 1 file viewed').waitFor();
    assert.match(page.url(), /since=round/);
    await page.getByText('// Of the first round.', { exact: true }).waitFor();
    const thread = page.getByRole('region', { name: /lines 4 to 5$/ });
    await thread.getByText('Git: lines untouched').waitFor();
    assert.equal(await thread.getByText('let sum = 0').count(), 0, 'it is below its lines');
    assert.equal(
      await page.getByRole('button', { name: /^Comment on line \d+, deleted/ }).count(),
      0,
    );
    await page.getByRole('button', { name: /^Line 5, deleted: \/\/ Of the first/ }).waitFor();
    await audit(page, 'review-since-desktop');
    await page.getByRole('button', { name: /^Comment on line 6, added/ }).click();
    const form = page.getByRole('form', { name: 'New comment' });
    await form.getByRole('textbox').fill('Round it.');
    await form.getByRole('button', { name: 'Save draft' }).click();
    await form.waitFor({ state: 'detached' });
    const { comments } = await client.reviewComments.list({ ...place, jobId: secondId });
    const draft = comments.find(({ text }) => text === 'Round it.');
    assert.deepEqual(
      [draft?.path, draft?.side, draft?.startLine, draft?.lines],
      ['src/orders.ts', 'result', 6, '  return sum;'],
    );
    const written = page.getByRole('region', { name: /src\/orders.ts, line 6$/ });
    await written.getByRole('button', { name: 'Remove' }).click();
    await written.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('0 of 1 file viewed').waitFor();
    await phonePage.goto(`${pathOf(secondId)}&since=round`);
    await phonePage.getByText('Git: lines untouched').waitFor();
    await audit(phonePage, 'review-since-phone');
    await page.getByRole('link', { name: 'Whole work' }).click();
    await page.getByText('0 of 4 files viewed').waitFor();
    assert.doesNotMatch(page.url(), /since/);
    await phonePage.goto(pathOf(secondId));
  });

  it('resolves a thread and replies in another, seen by both reviewers', async () => {
    const thread = page.getByRole('region', { name: /lines 4 to 5$/ });
    await thread.getByRole('button', { name: 'Reply' }).click();
    await thread.getByRole('textbox').fill('Git says that you have not.');
    await thread.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('button', { name: 'Send 1 comment' }).waitFor();
    await phonePage.getByText('Git says that you have not.').waitFor();
    const other = phonePage.getByRole('region', { name: /lines 3 to 4$/ });
    await other.getByRole('button', { name: 'Resolve' }).tap();
    await other.getByText('Resolved by Grace Hopper').waitFor();
    await page.getByText('1 open thread', { exact: false }).waitFor();
  });

  it('asks the agent for changes that it shares on request, and reviews them', async () => {
    const { workspaceId, agentId } = place;
    const prompt = 'Count the orders.';
    const { jobId } = await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
    const { claimGeneration = 0 } = await client.jobs.claimNext(place);
    await client.jobs.complete({
      ...place,
      jobId,
      claimGeneration,
      outcome: 'done',
      message: 'Counted.',
      evidence: { baseSha, commitSha, branch, changedFiles: ['src/orders.ts', 'docs/orders.md'] },
    });
    await page.goto(pathOf(jobId));
    await page.getByRole('heading', { name: 'The changes are on build-7' }).waitFor();
    await page.getByText('who runs the agent sets').waitFor();
    await audit(page, 'review-not-shared-desktop');
    await beat([repoId]);
    const ask = page.getByRole('button', { name: 'Ask for the changes' });
    await ask.waitFor();
    await phonePage.goto(pathOf(jobId));
    await phonePage.getByRole('button', { name: 'Ask for the changes' }).waitFor();
    await audit(phonePage, 'review-on-request-phone');
    await ask.click();
    await page.getByText('Ada Lovelace asked for the changes').waitFor();
    await phonePage.getByText('build-7 sends them in a moment.').waitFor();
    await ask.waitFor({ state: 'detached' });
    await audit(page, 'review-asked-desktop');
    const { commands } = await beat([repoId]);
    assert.deepEqual(commands, [{ command: 'share-patch', jobId, askedByName: 'Ada Lovelace' }]);
    const answer = { workspaceId, agentId, jobId };
    await client.jobs.sharePatch({ ...answer, refusal: 'The commit is gone.' });
    await page.getByText('Not shared: The commit is gone.').waitFor();
    await page.getByRole('button', { name: 'Ask again' }).click();
    await phonePage.getByText('build-7 sends them in a moment.').waitFor();
    const { uploadId, uploadUrl } = await client.uploads.create({
      workspaceId,
      fileName: 'job.patch',
      contentType: 'text/x-diff',
      sizeBytes: patch.length,
      job: { jobId, agentId },
    });
    assert.equal((await fetch(uploadUrl, { method: 'PUT', body: patch })).status, 200);
    const shared = { uploadId, sizeBytes: patch.length };
    await client.jobs.sharePatch({ ...answer, commitSha, patch: shared });
    await page.getByText('0 of 4 files viewed').waitFor();
    await page.getByRole('button', { name: /^Comment on line 3, added/ }).waitFor();
    await page.getByText('Ada Lovelace asked for the changes').waitFor();
    await phonePage.getByText('0 of 4 files viewed').waitFor();
    await audit(phonePage, 'review-shared-phone');
  });

  it('has findings of a review on their lines, and one is sent as a comment', async () => {
    const { workspaceId } = place;
    const { jobId } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      kind: 'work',
      prompt: 'List the orders.',
    });
    await complete(jobId);
    await page.goto(pathOf(jobId));
    await page.getByText('0 of 4 files viewed').waitFor();
    const { jobId: reviewId } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      kind: 'pr_review',
      prompt: 'Review it.',
      reviewsJobId: jobId,
    });
    const reviews = page.getByRole('list', { name: 'Reviews of this work' });
    await reviews.getByText('pending').waitFor();
    const { claimGeneration = 0 } = await client.jobs.claimNext(place);
    const finding = { file: 'src/orders.ts', severity: 'major' } as const;
    await client.jobs.complete({
      ...place,
      jobId: reviewId,
      claimGeneration,
      outcome: 'done',
      message: 'Reviewed.',
      evidence: {
        reviewedSha: 'e'.repeat(40),
        findings: [
          { ...finding, line: 6, message: 'The sum may overflow.', text: '  return sum;' },
          { ...finding, line: 4, message: 'It is never read.', text: '  let total = 0;' },
        ],
      },
    });
    await reviews.getByText('done').waitFor();
    await page.getByText('outdated: found in another commit').waitFor();
    await page.getByText('The sum may overflow.').waitFor();
    await page.getByText('The sum may overflow.').scrollIntoViewIfNeeded();
    await audit(page, 'review-findings-desktop');
    await phonePage.goto(pathOf(jobId));
    // Rows far below the window are not drawn.
    await phonePage.getByText('outdated: found in another commit').scrollIntoViewIfNeeded();
    await phonePage.getByRole('button', { name: /^Comment on line 3, added/ }).focus();
    await phonePage.getByText('The sum may overflow.').scrollIntoViewIfNeeded();
    await audit(phonePage, 'review-findings-phone');
    const below = page.getByText('The sum may overflow.').locator('xpath=../..');
    const make = below.getByRole('button', { name: 'Make it a comment' });
    await make.click();
    await page.getByRole('button', { name: 'Send 1 comment' }).waitFor();
    await make.waitFor({ state: 'detached' });
    const { comments } = await client.reviewComments.list({ workspaceId, jobId });
    assert.deepEqual(
      comments.map(({ path, startLine, lines, text }) => [path, startLine, lines, text]),
      [['src/orders.ts', 6, '  return sum;', 'The sum may overflow.']],
    );
    await reviews.getByRole('link').click();
    await page.getByText('This job reviews a commit.').waitFor();
    await page.getByRole('link', { name: 'Open its work' }).waitFor();
  });

  it('compares the variants of a work, and one of them is chosen', async () => {
    const { workspaceId } = place;
    const { variantJobIds = [] } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      kind: 'work',
      prompt: 'Sort the orders.',
      variants: [{}, {}],
    });
    const [one = '', other = ''] = variantJobIds;
    await complete(one);
    await page.goto(`/w/${owner.workspaceSlug}/jobs/${one}`);
    const rows = page.getByRole('table').getByRole('row');
    await rows.nth(1).getByText('0 of 1 passed').waitFor();
    await rows.nth(2).getByText('Pending').waitFor();
    await complete(other);
    await rows.nth(2).getByText('0 of 1 passed').waitFor();
    await page
      .getByRole('button', { name: /^Line 3, added/ })
      .nth(1)
      .waitFor();
    await page.getByRole('heading', { name: 'Changes of two variants' }).scrollIntoViewIfNeeded();
    await audit(page, 'review-variants-desktop');
    await rows.nth(1).getByRole('button', { name: 'Choose 1. any tool' }).click();
    await rows.nth(1).getByText('Chosen', { exact: true }).waitFor();
    await rows.nth(2).getByText('Not chosen').waitFor();
    await phonePage.goto(`/w/${owner.workspaceSlug}/jobs/${other}`);
    await phonePage.getByText('Not chosen').waitFor();
    await phonePage.getByRole('heading', { name: 'Changes of two variants' }).waitFor();
    await audit(phonePage, 'review-variants-phone');
  });

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual([...visit.troubles, ...phoneVisit.troubles], []);
  });
});
