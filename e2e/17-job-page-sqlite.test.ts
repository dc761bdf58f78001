import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { inviteMemberByAdmin, mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Locator, Page } from 'playwright-core';
import { browserMissing, followLink, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditPage, auditSchemes, auditScreens, keepPicture } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { callConsole, lendSession, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('job-page');
const { hub, browser } = usePagePlace({ after });

const MILLION = 1_000_000;
/** Lines of a piece of output, of about 30 KB. */
const PIECE_LINES = 500;
const PIECES_PER_CALL = 6;

const hostileMarkdown = [
  '## Added **GET /health**',
  '',
  '- it answers `200`, see [the page](https://acme.example/health)',
  '- <script>window.pwned = true</script><img src=x onerror="window.pwned = true">',
  '![tracker](https://tracker.example/pixel.png)',
  '[a script](javascript:window.pwned=true)',
].join('\n');

describe('the page of a job', { skip: browserMissing }, () => {
  let visit: Visit;
  let page: Page;
  let person: SignedIn;
  let client: Client;
  let place: { workspaceId: string; repoId: string; agentId: string };

  before(async () => {
    person = await makeWorkspace(owner);
    const config = await configOf(dataDir);
    const { workspaceSlug } = owner;
    const { token } = await mintTokenByAdmin(config, { workspaceSlug, name: 'samples' });
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { workspaceId } = person;
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'c3'.repeat(32),
      label: 'acme/api',
    });
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: 'build-7',
      machineFingerprint: 'build-7',
      capabilities: { canWrite: true, reposAllowed: [repoId], maxConcurrentJobs: 50 },
    });
    place = { workspaceId, repoId, agentId };
    visit = await openVisit(browser, hub.baseUrl, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
  });
  const folder = makeTempDir({ after });

  /** A running job. */
  async function startJob(prompt: string) {
    const { workspaceId, repoId, agentId } = place;
    const { jobId } = await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
    await client.jobs.claimNext({ workspaceId, agentId, leaseMs: 3_600_000 });
    let logSeq = 0;
    const held = { workspaceId, jobId, agentId };
    return {
      ...held,
      append: (...messages: string[]) =>
        client.jobEvents.append({
          ...held,
          entries: messages.map((message) => ({ logSeq: ++logSeq, message, stream: 'stdout' })),
        }),
    };
  }

  const pathOf = (jobId: string, rest = '') => `/w/${owner.workspaceSlug}/jobs/${jobId}${rest}`;
  const log = (attempt = 1) => page.getByRole('log', { name: `Output of attempt ${attempt}` });
  const row = (line: number) => page.locator(`[data-line="${line}"]`);
  const isInSight = (found: Locator) =>
    found.evaluate(
      (
        element: { getBoundingClientRect(): { top: number; bottom: number } } & {
          closest(selector: string): { getBoundingClientRect(): { top: number; bottom: number } };
        },
      ) => {
        const box = element.closest('[role=log]').getBoundingClientRect();
        const { top, bottom } = element.getBoundingClientRect();
        return top >= box.top - 1 && bottom <= box.bottom + 1;
      },
    );
  async function waitInSight(line: number): Promise<void> {
    await row(line).waitFor();
    // Not waitForFunction: it repeats by eval, which the page's content security policy forbids.
    await page.evaluate(`new Promise((resolve) => {
      const look = () => (isInSight() ? resolve() : requestAnimationFrame(look));
      const isInSight = () => {
        const row = document.querySelector('[data-line="${line}"]');
        if (!row) return false;
        const box = row.closest('[role=log]').getBoundingClientRect();
        const { top, bottom } = row.getBoundingClientRect();
        return top >= box.top - 1 && bottom <= box.bottom + 1;
      };
      look();
    })`);
    assert.ok(await isInSight(row(line)), `line ${line}`);
  }

  it('goes to each hit of a search, also where the lines are in the document already', async () => {
    const job = await startJob('Print 234 lines.');
    const lines = Array.from(
      { length: 234 },
      (_, i) => `line ${i}${i % 60 === 59 ? ' HIT' : ''}\n`,
    );
    await job.append(lines.join(''));
    await client.jobs.complete({
      ...place,
      jobId: job.jobId,
      outcome: 'done',
      message: 'Printed.',
    });
    await page.goto(pathOf(job.jobId, '?tab=log'));
    await waitInSight(234);
    const field = page.getByRole('searchbox', { name: 'Search the log' });
    await field.fill('HIT');
    await page.getByText('3 lines', { exact: true }).waitFor();
    for (const line of [60, 120, 180, 60]) {
      await field.press('Enter');
      await waitInSight(line);
    }
    await field.press('Escape');
  });

  describe('a log of a million lines', () => {
    let jobId: string;

    before(async () => {
      const job = await startJob('Print a million lines.');
      jobId = job.jobId;
      const pieceOf = (from: number) =>
        Array.from({ length: PIECE_LINES }, (_, i) => {
          const line = from + i + 1;
          return `${line} of the output, which is about sixty characters${line % 99_999 === 0 ? ' ERROR' : ''}\n`;
        }).join('');
      for (let from = 0; from < MILLION; from += PIECE_LINES * PIECES_PER_CALL) {
        const pieces = Array.from({ length: PIECES_PER_CALL }, (_, i) => from + i * PIECE_LINES);
        await job.append(...pieces.filter((at) => at < MILLION).map(pieceOf));
      }
      await client.jobs.complete({ ...place, jobId, outcome: 'done', message: 'Printed.' });
    });

    it('opens at its end, and holds a few pages of it only', async (t) => {
      await page.goto(pathOf(jobId));
      await page.getByRole('tab', { name: 'Log' }).waitFor();
      const startedMs = performance.now();
      await page.getByRole('tab', { name: 'Log' }).click();
      await waitInSight(MILLION);
      t.diagnostic(`opened at the end after ${Math.round(performance.now() - startedMs)} ms`);
      assert.ok((await page.locator('[data-line]').count()) < 1_500);
      const session = await visit.context.newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      t.diagnostic(`the page uses ${Math.round(usedSize / 1e6)} MB of memory`);
      assert.ok(usedSize < 100e6, `${usedSize} bytes`);
      assert.deepEqual(await auditPage(page), []);
    });

    it('is searched whole on the hub', async (t) => {
      const field = page.getByRole('searchbox', { name: 'Search the log' });
      await page.keyboard.press('/');
      assert.ok(await field.evaluate((element) => element === element.ownerDocument.activeElement));
      const startedMs = performance.now();
      await field.fill('characters error');
      await page.getByText('10 lines', { exact: true }).waitFor();
      t.diagnostic(`searched after ${Math.round(performance.now() - startedMs)} ms, 300 of pause`);
      await field.press('Enter');
      await page.getByText('1 of 10').waitFor();
      await waitInSight(99_999);
      await field.press('Shift+Enter');
      await page.getByText('10 of 10').waitFor();
      await waitInSight(999_990);
      await field.fill('.*');
      await page.getByText('Not found').waitFor();
      await field.press('Escape');
    });

    it('opens and marks the lines of a link', async () => {
      await page.goto('about:blank');
      await page.goto(pathOf(jobId, '?tab=log&attempt=1#L481200-L481203'));
      await waitInSight(481_200);
      const marked = page.locator('[data-line][aria-current=location]');
      assert.deepEqual(
        await marked.evaluateAll((rows) => rows.map((each) => each.getAttribute('data-line'))),
        ['481200', '481201', '481202', '481203'],
      );
      await row(481_205).getByRole('link', { name: 'Line 481205' }).click();
      await page.waitForURL(/attempt=1#L481205$/);
      await row(481_207)
        .getByRole('link', { name: 'Line 481207' })
        .click({ modifiers: ['Shift'] });
      await page.waitForURL(/#L481205-L481207$/);
      assert.equal(await marked.count(), 3);
    });

    it('is downloaded whole', async () => {
      const arriving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      const saved = join(folder, 'saved.log');
      await (await arriving).saveAs(saved);
      const text = await readFile(saved, 'utf8');
      assert.equal(text.split('\n').length - 1, MILLION);
      assert.ok(text.endsWith('1000000 of the output, which is about sixty characters\n'));
    });
  });

  it('follows a live log until the person scrolls up, and again on request', async () => {
    const job = await startJob('Print while I watch.');
    const linesFrom = (from: number) =>
      Array.from({ length: 300 }, (_, i) => `\u001b[32mline\u001b[0m ${from + i}\n`).join('');
    await job.append(linesFrom(1));
    await page.goto(pathOf(job.jobId, '?tab=log'));
    await waitInSight(300);
    await job.append(linesFrom(301));
    await waitInSight(600);
    const follow = page.getByRole('checkbox', { name: 'Follow' });
    assert.ok(await follow.isChecked());
    await log().hover();
    await page.mouse.wheel(0, -900);
    await follow.and(page.locator(':not(:checked)')).waitFor();
    await job.append(linesFrom(601));
    await page.getByText('900 lines').waitFor();
    assert.equal(await row(900).count(), 0, 'the log stays where the person reads');
    await follow.check();
    await waitInSight(900);
    await job.append('an open line');
    await log().getByText('an open line').waitFor();
    await job.append(' and its rest\n');
    await log().getByText('an open line and its rest').waitFor();
  });

  it('folds the groups of a log', async () => {
    const job = await startJob('Print in groups.');
    const group = (title: string) =>
      `::group::${title}\n${`a line of ${title}\n`.repeat(40)}::endgroup::\n`;
    await job.append(group('Install'), group('Test'), 'the last line\n');
    await page.goto(pathOf(job.jobId, '?tab=log'));
    await waitInSight(85);
    assert.equal(await page.getByText('::endgroup::').count(), 0);
    await page.getByRole('button', { name: 'Fold groups' }).click();
    await page.locator('[data-line]').nth(3).waitFor({ state: 'detached' });
    await row(1).getByText('Install').waitFor();
    await row(43).getByRole('button').click();
    await row(50).waitFor();
  });

  it('opens a failed job at the failure, and shows the error once', async () => {
    const job = await startJob('Fail in the middle.');
    await job.append(
      'line\n'.repeat(500),
      'Error: expected 3, got 4\n',
      'cleaning up\n'.repeat(60),
    );
    await client.jobs.complete({
      ...place,
      jobId: job.jobId,
      outcome: 'failed',
      message: `Error: expected 3, got 4\n${'    at a place in the code\n'.repeat(25)}`,
      outcomeReason: { category: 'tool', code: 'exit_1', summary: 'Error: expected 3, got 4' },
    });
    await page.goto(pathOf(job.jobId));
    await page.getByRole('heading', { name: 'The attempt failed' }).waitFor();
    assert.equal(await page.getByText('Error: expected 3, got 4').count(), 1);
    await page.getByRole('button', { name: 'Show all 26 lines' }).click();
    await page.getByRole('link', { name: 'Open the log at line 501' }).click();
    await waitInSight(501);
    await page.goto(pathOf(job.jobId, '?tab=log'));
    await waitInSight(501);
    await page.goto(pathOf(job.jobId, '?tab=timeline'));
    await page.getByText('Failed (exit_1)').waitFor();
  });

  it('retries with another prompt, by keyboard, and keeps the one before', async () => {
    const job = await startJob('Do the old thing.');
    await client.jobs.complete({ ...place, jobId: job.jobId, outcome: 'failed', message: 'No.' });
    await page.goto(pathOf(job.jobId));
    await page.getByRole('heading', { name: 'The attempt failed' }).waitFor();
    await page.keyboard.press('e');
    const field = page.getByRole('textbox', { name: 'Prompt' });
    await field.fill('Do the new thing.');
    await field.press('Control+Enter');
    await page.getByRole('heading', { name: 'Do the new thing.' }).waitFor();
    await page.getByRole('status', { name: 'Status' }).getByText('Pending').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('4');
    await page.getByText('Retried with another prompt').waitFor();
    await page.getByText('Previous prompt').click();
    await page.getByText('Do the old thing.').waitFor();
    await client.jobs.cancel({ workspaceId: place.workspaceId, jobId: job.jobId });
  });

  it('sends a message to a running job, which becomes the next round, and starts another', async () => {
    const { jobId, agentId } = await startJob('Add a list of orders.');
    const { workspaceId } = place;
    await page.goto(pathOf(jobId));
    const send = async (text: string, button: string) => {
      await page.getByRole('button', { name: button, exact: true }).waitFor();
      await page.getByRole('main').getByRole('textbox').fill(text);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
    };
    await send('Handle the empty list, too.', 'Send');
    await page.getByText('waits for the end of this job').waitFor();
    assert.deepEqual(await auditSchemes(page, 'job-message'), []);
    // The agent of the job reports that its tool takes messages.
    const take = { workspaceId, agentId, jobId, claimGeneration: 1 };
    await client.jobs.takeMessages(take);
    await page.getByText('waits for the end of this turn').waitFor();
    await send('And a test.', 'Send');
    await page.getByText('And a test.').waitFor();
    await client.jobs.takeMessages({ ...take, delivered: [2] });
    await page.getByText(/· delivered/).waitFor();
    await client.jobs.complete({
      workspaceId,
      agentId,
      jobId,
      outcome: 'done',
      message: 'Added.',
      messagesDelivered: [2],
    });
    await page.getByRole('link', { name: 'in the next round' }).click();
    const rounds = page.getByRole('list', { name: 'Rounds' });
    await rounds.getByRole('link', { name: 'Round 2, pending' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Handle the empty list, too.' }).waitFor();
    const second = await client.jobs.claimNext({ workspaceId, agentId });
    const { jobId: secondId } = second;
    assert.ok(secondId !== null);
    const end = { workspaceId, agentId, outcome: 'done', message: 'Handled.' } as const;
    await client.jobs.complete({ ...end, jobId: secondId });
    await send('And say how many there are.', 'Start round 3');
    await rounds.getByRole('link', { name: 'Round 3, pending' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'And say how many there are.' }).waitFor();
    await keepPicture(page, 'job-rounds');
    const { jobId: thirdId } = await client.jobs.claimNext({ workspaceId, agentId });
    assert.ok(thirdId !== null);
    await client.jobs.complete({ ...end, jobId: thirdId });
    await rounds.getByRole('link', { name: 'Round 1, done' }).click();
    await page.getByRole('heading', { level: 1, name: 'Add a list of orders.' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Start round/ }).count(), 0);
  });

  it('names the open question before a retry', async () => {
    const job = await startJob('Ask before you go.');
    const { workspaceId, repoId } = place;
    const run = { runRef: 'schema', status: 'in_progress' };
    const { runId } = await client.runs.upsertV1({ workspaceId, repoId, ...run });
    await client.uncertainties.createWithAutoPromotion({
      workspaceId,
      runId,
      jobId: job.jobId,
      kind: 'approval',
      prompt: 'Which schema is it to be?',
      confidence: 0.2,
      impact: 'high',
      reversibility: 'hard',
      autoPromoteThreshold: 0.7,
      assumedValue: 'billing',
      assumedReasoning: 'It exists.',
    });
    await client.jobs.complete({
      ...place,
      jobId: job.jobId,
      outcome: 'blocked',
      message: 'Asked.',
    });
    await page.goto(pathOf(job.jobId));
    await page.locator('header').getByRole('button', { name: 'Answer', exact: true }).waitFor();
    await page.getByText('Which schema is it to be?').first().waitFor();
    await page.keyboard.press('r');
    const question = page.getByRole('alertdialog', { name: 'Return the job to the queue?' });
    await question.getByText('Which schema is it to be?').waitFor();
    await question.getByRole('button', { name: 'Go back' }).click();
  });

  it('shows the Markdown of an agent and runs nothing in it', async () => {
    const job = await startJob('Add a health check to the API.');
    await client.jobs.complete({
      ...place,
      jobId: job.jobId,
      outcome: 'done',
      message: hostileMarkdown,
      evidence: {
        commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
        changedFiles: ['src/health.ts', 'src/routes.ts', 'README.md'],
        // Further fields are kept and shown; the type of a request does not list them.
        branch: 'signalbox/job-1',
        verdict: 'gaps',
        checks: [{ name: 'npm test', exitCode: 0, durationMs: 4_200 }],
      },
      usage: { costUsd: 0.84 },
    });
    await page.goto(pathOf(job.jobId));
    await page.getByText('Added GET /health').waitFor();
    await page.locator('strong', { hasText: 'GET /health' }).waitFor();
    await page.getByText('<script>window.pwned = true</script>').waitFor();
    assert.equal(await page.locator('main img, main script').count(), 0);
    assert.equal(await page.locator('a[href^="javascript:"]').count(), 0);
    assert.equal(await page.evaluate('window.pwned'), undefined);
    await page.getByRole('list', { name: 'In short' }).getByText('$0.84').waitFor();
    await page.getByRole('button', { name: 'Copy git switch' }).click();
    assert.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      'git switch signalbox/job-1',
    );
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.getByText('This attempt printed nothing.').waitFor();
    await page.keyboard.press('3');
    await page.getByRole('heading', { name: '3 changed files' }).waitFor();
    await page.keyboard.press('1');
    await page.getByRole('heading', { name: 'Evidence' }).waitFor();
  });

  it('disables for a viewer what a viewer may not do, with the reason', async () => {
    const config = await configOf(dataDir);
    const draft = {
      workspaceSlug: owner.workspaceSlug,
      email: 'v@job-page.example',
      role: 'viewer',
    };
    const { invitationUrl } = await inviteMemberByAdmin(config, { ...draft, role: 'viewer' });
    const linkToken = invitationUrl.split('#token=')[1];
    const { password } = owner;
    const body = { linkToken, name: 'Vera Viewer', password };
    const { cookie } = await callConsole(hub.baseUrl, 'invitations/accept', body);
    const guest = await openVisit(browser, hub.baseUrl);
    await lendSession(guest.context, { ...person, cookie });
    const guestPage = await guest.context.newPage();
    const job = await startJob('Fail, then be looked at.');
    await client.jobs.complete({ ...place, jobId: job.jobId, outcome: 'failed', message: 'No.' });
    await guestPage.goto(pathOf(job.jobId));
    const retry = guestPage.getByRole('button', { name: 'Retry', exact: true });
    await retry.waitFor();
    assert.equal(await retry.getAttribute('aria-disabled'), 'true');
    await retry.click({ force: true });
    await guestPage.getByText('Viewers can read only.').first().waitFor();
    await guestPage.keyboard.press('r');
    assert.equal(await guestPage.getByRole('alertdialog').count(), 0);
    assert.deepEqual(await auditPage(guestPage), []);
    assert.deepEqual(guest.troubles, []);
    await guest.context.close();
  });

  it('passes the audit on every tab and in every state, on both screens and in both themes', async () => {
    const { jobs } = await client.jobs.list({ workspaceId: place.workspaceId, limit: 50 });
    const ofStatus = new Map(jobs.map((job) => [job.status, job.jobId]));
    assert.deepEqual(await auditTabs(ofStatus), []);
  });

  /** Every tab of the failed job, and the overview of one job in each other state. */
  async function auditTabs(ofStatus: ReadonlyMap<string, string>): Promise<string[]> {
    const shown = await visit.context.newPage();
    const faults: string[] = [];
    for (const [status, jobId] of ofStatus) {
      const tabs = status === 'failed' ? ['log', 'changes', 'timeline', 'raw'] : [];
      for (const tab of ['overview', ...tabs]) {
        await followLink(shown, pathOf(jobId, `?tab=${tab}`));
        await shown.getByRole('tab', { selected: true }).waitFor();
        await shown.locator('[role=tabpanel] > *').first().waitFor();
        await shown.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
        faults.push(...(await auditScreens(shown, `job-${status}-${tab}`)));
      }
    }
    await shown.close();
    return faults;
  }

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual(visit.troubles, []);
  });
});
