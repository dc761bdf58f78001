import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Locator, Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession } from './person.ts';

const owner = ownerOf('keyboard');
const { hub, browser } = usePagePlace({ after });

/** More stops of the Tab key than any page has. */
const TABS_MAX = 120;

describe('the console without a mouse', { skip: browserMissing }, () => {
  let visit: Visit;
  let page: Page;

  before(async () => {
    const { workspaceId, ...person } = await makeWorkspace(owner);
    const config = await configOf(dataDir);
    const { workspaceSlug } = owner;
    const { token } = await mintTokenByAdmin(config, { workspaceSlug, name: 'samples' });
    await makeSamples(createClient({ baseUrl: hub.baseUrl, token }), workspaceId);
    visit = await openVisit(browser, hub.baseUrl, { viewport: { width: 1280, height: 800 } });
    await lendSession(visit.context, { ...person, workspaceId });
    page = await visit.context.newPage();
    await page.goto(`/w/${workspaceSlug}/inbox`);
  });

  /** Two questions, two queued jobs, and a job with output. */
  async function makeSamples(client: Client, workspaceId: string): Promise<void> {
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'acme/api',
    });
    const run = { workspaceId, repoId, runRef: 'keys', status: 'in_progress' };
    const { runId } = await client.runs.upsertV1({ ...run, title: 'Keys' });
    for (const prompt of ['Which size is it to be?', 'Which colour is it to be?']) {
      await client.uncertainties.createWithAutoPromotion({
        workspaceId,
        runId,
        prompt,
        kind: 'choice',
        confidence: 0.2,
        options: [{ value: 'first' }, { value: 'second' }],
      });
    }
    const enqueue = (prompt: string) =>
      client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
    const { jobId } = await enqueue('Print a needle.');
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: 'build-7',
      machineFingerprint: 'build-7',
      capabilities: { canWrite: true, reposAllowed: [repoId] },
    });
    await client.jobs.claimNext({ workspaceId, agentId, leaseMs: 600_000 });
    const message = `${'hay\n'.repeat(300)}a needle\n${'hay\n'.repeat(300)}`;
    await client.jobEvents.append({
      workspaceId,
      jobId,
      agentId,
      entries: [{ logSeq: 1, message, stream: 'stdout' }],
    });
    await client.jobs.complete({ workspaceId, jobId, agentId, outcome: 'done' });
    for (const prompt of ['Sweep the first floor.', 'Sweep the second floor.', 'Paint a wall.']) {
      await enqueue(prompt);
    }
  }

  const press = (...keys: string[]) => keys.reduce<Promise<void>>(pressNext, Promise.resolve());
  async function pressNext(before: Promise<void>, key: string): Promise<void> {
    await before;
    await page.keyboard.press(key);
  }

  /** A place that has the focus: what a person acts on shows it, and nothing is the whole page. */
  async function checkFocus(step: string): Promise<void> {
    await page
      .locator(':focus')
      .first()
      .waitFor({ state: 'attached' })
      .catch((cause) => {
        throw new Error(`The focus is lost: ${step}`, { cause });
      });
    // Null: it is seen. Some rows show the focus of the link in them.
    const unseen = await page.evaluate<string | null>(`(() => {
      const element = document.activeElement;
      if (element.matches('main, [tabindex="-1"]')) return null;
      const isSeen = [element, element.closest('li, label, form')].some((place) => {
        if (place === null) return false;
        return ['', '::after'].some((part) => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(place, part);
          return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
        });
      });
      return isSeen ? null : element.outerHTML;
    })()`);
    assert.equal(unseen, null, `the focus is visible: ${step}`);
  }

  /** Presses Tab until an element has the focus, and looks at each stop on the way. */
  async function tabTo(target: Locator, step: string): Promise<void> {
    await target.first().waitFor();
    for (let stops = 0; stops < TABS_MAX; stops += 1) {
      const isThere = await target
        .first()
        .evaluate((element) => element === element.ownerDocument.activeElement);
      if (isThere) return;
      await press('Tab');
      await checkFocus(`${step}, stop ${stops}`);
    }
    assert.fail(`Tab does not reach it: ${step}`);
  }

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
  const row = (title: string) => page.getByRole('listitem').filter({ hasText: title });

  it('answers a question, and keeps its place when the question leaves the list', async () => {
    const question = page.getByRole('article').getByRole('heading', { name: /Which size/ });
    await question.waitFor();
    await press('2');
    await page.getByRole('radio', { name: /second/, checked: true }).waitFor();
    await tabTo(button(/^Answer/), 'the button that answers');
    await press('Enter');
    await page.getByText('You answered').waitFor();
    await checkFocus('after the answer');
    await page
      .getByRole('list', { name: 'Open questions' })
      .getByRole('link', { name: /Which size/ })
      .waitFor({ state: 'detached' });
    await checkFocus('after the row has gone');
    await press('j');
    await page
      .getByRole('article')
      .getByRole('heading', { name: /Which colour/ })
      .waitFor();
  });

  it('filters jobs, selects two of them and cancels both', async () => {
    await press('g', 'j');
    await heading('Jobs').waitFor();
    await checkFocus('on a new page');
    await press('/');
    await page.keyboard.type('sweep');
    await row('Paint a wall.').waitFor({ state: 'detached' });
    await press('Escape');
    await checkFocus('after the search');
    await press('j', 'x', 'j', 'x');
    await page.getByText('2 selected').waitFor();
    await tabTo(button('Cancel jobs'), 'the button of the bar');
    await press('Enter');
    await checkFocus('at the second question');
    await tabTo(button('Cancel these 2 jobs'), 'the confirmation');
    await press('Enter');
    await page.getByText('2 selected').waitFor({ state: 'detached' });
    await checkFocus('after the bar has gone');
  });

  it('opens a job, its tabs, and searches its log', async () => {
    await press('/');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('needle');
    // The row is there before the search, too, and the list that was found takes its place.
    await row('Paint a wall.').waitFor({ state: 'detached' });
    await row('Print a needle.').waitFor();
    await press('Escape');
    await tabTo(row('Print a needle.').getByRole('link'), 'the job');
    await press('Enter');
    await heading('Print a needle.').waitFor();
    await checkFocus('on the page of the job');
    await tabTo(page.getByRole('tab', { name: 'Overview' }), 'the tabs');
    await press('ArrowRight', 'Enter');
    await page.getByRole('log').waitFor();
    await checkFocus('after the tab has changed');
    await press('/');
    await page.keyboard.type('needle');
    await page.getByText('1 line', { exact: true }).waitFor();
    await press('Enter');
    await page.locator('mark', { hasText: 'needle' }).waitFor();
    await checkFocus('in the search');
    await press('Escape');
    await page.locator('[role=log]:focus').waitFor();
  });

  it('enqueues a job', async () => {
    await press('g', 'j');
    await heading('Jobs').waitFor();
    await press('n');
    await heading('New job').waitFor();
    await tabTo(page.getByLabel('Prompt', { exact: true }), 'the prompt');
    await page.keyboard.type('Made without a mouse.');
    await tabTo(button('Enqueue'), 'the button that enqueues');
    await press('Enter');
    await page.getByText('Made without a mouse.').first().waitFor();
    await checkFocus('after the job was made');
  });

  it('makes a token, closes its card and revokes it', async () => {
    await press('g', 's');
    await heading('Settings').waitFor();
    await tabTo(page.getByRole('link', { name: 'Tokens' }), 'the tokens');
    await press('Enter');
    await tabTo(button('New token'), 'the button for a token');
    await press('Enter');
    await tabTo(page.getByLabel('Name'), 'its name');
    await page.keyboard.type('keys');
    await tabTo(button('Create token'), 'the button that makes it');
    await press('Enter');
    await page.locator('code', { hasText: 'sbx_s_' }).waitFor();
    await checkFocus('after the token was made');
    await tabTo(button('Revoke the token keys'), 'the button that revokes it');
    await press('Enter');
    await page.getByRole('alertdialog').waitFor();
    await press('Escape');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await checkFocus('after the dialog was closed');
    await tabTo(button('Revoke the token keys'), 'the same button again');
    await press('Enter');
    await tabTo(page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }), 'revoke');
    await press('Enter');
    // While the dialog is open, no role behind it is found.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await button('Revoke the token keys').waitFor({ state: 'detached' });
    await checkFocus('after the row of the token has gone');
    assert.deepEqual(visit.troubles, []);
  });
});
