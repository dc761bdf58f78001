import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LANDING_MODE } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditSchemes } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { joinWorkspace, lendSession, type SignedIn } from './person.ts';
import { buttonOf, desktop, phone, pressByKey, untilFocused, untilWork } from './reviewer.ts';

const owner = ownerOf('landing');
const { hub, browser } = usePagePlace({ after });

const baseSha = 'a'.repeat(40);
const landedSha = 'c'.repeat(40);
const branch = 'signalbox/orders';
const pullRequestUrl = 'https://forge.example/orders/pull/7';

type Completion = Parameters<Client['jobs']['complete']>[0];

describe('approving and landing, in a browser', { skip: browserMissing }, () => {
  let ada: SignedIn;
  let client: Client;
  let place: { workspaceId: string; agentId: string };
  let repoId: string;
  let firstId: string;
  let roundId: string;
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
    const remoteUrlHash = 'e6'.repeat(32);
    ({ repoId } = await client.repositories.upsert({ workspaceId, label: 'a/b', remoteUrlHash }));
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: 'build-7',
      machineFingerprint: 'build-8',
      capabilities: {
        canWrite: true,
        reposAllowed: [repoId],
        maxConcurrentJobs: 5,
        executionModes: ['cli', LANDING_MODE],
      },
    });
    place = { workspaceId, agentId };
    firstId = await enqueue('Sum the orders.');
    await finish(firstId, 1);
    const { comment } = await client.reviewComments.save({
      workspaceId,
      jobId: firstId,
      text: 'Name the unit of the price.',
      place: { path: 'a.ts', side: 'result', startLine: 1, endLine: 1, lines: 'let sum = 0;' },
    });
    roundId = await continueWork(firstId, { commentIds: [comment.commentId] });
    await finish(roundId, 2);
    visit = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
    phoneVisit = await openVisit(browser, hub.baseUrl, phone);
    await lendSession(phoneVisit.context, await joinWorkspace(ada, 'Grace Hopper', 'member'));
    phonePage = await phoneVisit.context.newPage();
  });

  async function enqueue(prompt: string): Promise<string> {
    const { workspaceId } = place;
    return (await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt })).jobId;
  }

  async function continueWork(jobId: string, more: object): Promise<string> {
    const { workspaceId } = place;
    return (await client.jobs.continue({ workspaceId, jobId, ...more })).job.jobId;
  }

  /** Claims the job, and ends it as its agent would. */
  async function end(jobId: string | undefined, how: Partial<Completion>): Promise<void> {
    const { jobId: claimed, claimGeneration } = await client.jobs.claimNext(place);
    assert.ok(claimed);
    if (jobId !== undefined) assert.equal(claimed, jobId);
    const ids = { ...place, jobId: claimed, claimGeneration: claimGeneration ?? 0 };
    await client.jobs.complete({ ...ids, outcome: 'done', message: 'Summed.', ...how });
  }

  const shaOf = (round: number) => String(round).repeat(40);
  const finish = (jobId: string, round: number) =>
    end(jobId, {
      evidence: {
        baseSha,
        commitSha: shaOf(round),
        branch,
        verdict: 'verified',
        changedFiles: ['a.ts'],
        checks: [{ name: 'lint', command: 'lint', durationMs: 9, exitCode: 0, outcome: 'passed' }],
      },
    });

  const pathOf = (jobId: string) => `/w/${owner.workspaceSlug}/jobs/${jobId}`;
  const audit = async (on: Page, view: string) =>
    assert.deepEqual(await auditSchemes(on, view), []);

  it('names what an approval needs, to both reviewers', async () => {
    await page.goto(pathOf(roundId));
    await untilWork(page, 'In review');
    await page.getByText('1 review comment is not resolved.').waitFor();
    await audit(page, 'landing-missing-desktop');
    await phonePage.goto(`${pathOf(roundId)}?tab=changes`);
    await untilWork(phonePage, 'In review');
    await phonePage.getByText('1 review comment is not resolved.').waitFor();
    await audit(phonePage, 'landing-missing-phone');
  });

  it('takes an approval that overrides by keyboard alone, and the other page follows', async () => {
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog', { name: /^Approve although/ });
    await dialog.getByRole('textbox', { name: 'Reason' }).and(page.locator(':focus')).waitFor();
    await audit(page, 'landing-override-desktop');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await untilFocused(buttonOf(page, 'Approve'));
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Reason' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('The unit is in the name.');
    await pressByKey(buttonOf(page, 'Approve anyway'));
    await untilWork(page, 'Approved');
    await untilFocused(buttonOf(page, 'Land'));
    await untilWork(phonePage, 'Approved');
    await phonePage.getByText(/Ada Lovelace decided it.*The unit is in the name\./).waitFor();
    await audit(page, 'landing-approved-desktop');
    await audit(phonePage, 'landing-approved-phone');
  });

  it('lands from the phone, seen by both', async () => {
    await phonePage.getByRole('button', { name: 'Land', exact: true }).tap();
    const dialog = phonePage.getByRole('alertdialog');
    await dialog.getByText('Land the approved commit?').waitFor();
    await audit(phonePage, 'landing-dialog-phone');
    await dialog.getByRole('button', { name: 'Land', exact: true }).tap();
    await untilWork(phonePage, 'Landing');
    await untilWork(page, 'Landing');
    await audit(page, 'landing-running-desktop');
  });

  it('shows a failure with its conflicts, and continues the work to resolve them', async () => {
    await end(undefined, {
      outcome: 'failed',
      message: 'It conflicts with main in a.ts.',
      landing: { result: 'conflicts', into: 'main', conflicts: ['a.ts'] },
    });
    for (const each of [page, phonePage]) {
      await each.getByText('The landing failed.').waitFor();
      await each.getByRole('list', { name: 'Files with conflicts' }).getByText('a.ts').waitFor();
    }
    await audit(page, 'landing-conflicts-desktop');
    await audit(phonePage, 'landing-conflicts-phone');
    await pressByKey(buttonOf(page, 'Resolve the conflicts'));
    const message = page.getByRole('dialog').getByRole('textbox', { name: 'Message' });
    await message.and(page.locator(':focus')).waitFor();
    assert.match(
      await message.inputValue(),
      /^Rebase onto main and resolve the conflicts in a\.ts$/,
    );
    await audit(page, 'landing-rebase-desktop');
    await page.keyboard.press('End');
    await page.keyboard.type(', please');
    await pressByKey(buttonOf(page, 'Start the round'));
    await page.waitForURL((url) => !url.pathname.endsWith(roundId));
    roundId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { workspaceId } = place;
    const { job } = await client.jobs.get({ workspaceId, jobId: roundId });
    assert.match(job.prompt, /resolve the conflicts in a\.ts, please$/);
  });

  it('approves and lands by keyboard alone once nothing is missing', async () => {
    const { workspaceId } = place;
    await finish(roundId, 3);
    await phonePage.goto(pathOf(roundId));
    await phonePage.getByText('1 review comment is not resolved.').waitFor();
    const { comments } = await client.reviewComments.list({ workspaceId, jobId: roundId });
    for (const { commentId } of comments) {
      await client.reviewComments.resolve({ workspaceId, commentId, isResolved: true });
    }
    for (const each of [page, phonePage]) {
      await untilWork(each, 'In review');
      await each.getByText('1 review comment is not resolved.').waitFor({ state: 'detached' });
    }
    await pressByKey(buttonOf(page, 'Approve'));
    await untilWork(page, 'Approved');
    await untilFocused(buttonOf(page, 'Land'));
    await page.keyboard.press('l');
    await page.getByRole('alertdialog').getByText('Land the approved commit?').waitFor();
    await pressByKey(buttonOf(page, 'Land'));
    await untilWork(page, 'Landing');
    await end(undefined, {
      landing: { result: 'landed', into: 'main', commitSha: landedSha },
    });
    for (const each of [page, phonePage]) {
      await untilWork(each, 'Landed');
      await each.getByText(/^Landed in main as c{12} by /).waitFor();
    }
    await audit(page, 'landing-landed-desktop');
    await audit(phonePage, 'landing-landed-phone');
  });

  it('shows the pull request of a work that lands by one, and closes another', async () => {
    const { workspaceId } = place;
    const jobId = await enqueue('Sort the orders.');
    await finish(jobId, 4);
    await client.works.approve({ workspaceId, jobId, commitSha: shaOf(4) });
    await client.works.land({ workspaceId, jobId });
    await end(undefined, { landing: { result: 'pull_request', into: 'main', pullRequestUrl } });
    await phonePage.goto(pathOf(jobId));
    await phonePage.getByText(/^Pull request into main by /).waitFor();
    await phonePage.getByRole('link', { name: pullRequestUrl }).waitFor();
    const closedId = await enqueue('Drop the orders.');
    await finish(closedId, 5);
    await phonePage.goto(pathOf(closedId));
    await phonePage.getByRole('button', { name: 'Close', exact: true }).tap();
    await phonePage.getByRole('button', { name: 'Close the work' }).tap();
    await untilWork(phonePage, 'Closed');
    await audit(phonePage, 'landing-closed-phone');
  });

  it('shows what a job builds on: the job that it names, and then the commit that its agent found', async () => {
    const before = await enqueue('Name the orders.');
    const job = {
      workspaceId: place.workspaceId,
      repoId,
      kind: 'work',
      prompt: 'List them.',
    } as const;
    const { jobId } = await client.jobs.enqueue({ ...job, base: before });
    await finish(before, 6);
    await page.goto(pathOf(jobId));
    const row = page.locator('dl > div').filter({ hasText: /^Builds on/ });
    assert.equal(await row.getByRole('link').getAttribute('href'), pathOf(before));
    const jobs = [{ jobId: before, commitSha: shaOf(6) }];
    const evidence = { baseSha, commitSha: shaOf(7), branch, changedFiles: ['a.ts'] };
    await end(jobId, {
      evidence: { ...evidence, buildsOn: { commitSha: shaOf(6), branch: 'main', jobs } },
    });
    await row.getByText('6666666').waitFor();
    assert.equal(await row.getByRole('link').getAttribute('href'), pathOf(before));
    await audit(page, 'builds-on-desktop');
  });

  it('leaves works that have landed or were closed out of the list, and one chip shows them', async () => {
    await enqueue('Count the orders.');
    await page.goto(`/w/${owner.workspaceSlug}/jobs`);
    await page.getByRole('link', { name: 'Count the orders.' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Drop the orders.' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Sum the orders.' }).count(), 0);
    await page.getByRole('button', { name: 'Landed and closed' }).click();
    await page.getByRole('link', { name: 'Drop the orders.', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Sum the orders.', exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Count the orders.' }).count(), 0);
    await audit(page, 'landing-list-desktop');
  });

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual([...visit.troubles, ...phoneVisit.troubles], []);
  });
});
