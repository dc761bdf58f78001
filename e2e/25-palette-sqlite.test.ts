import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type VisitOptions } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditPage } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession, type SignedIn } from './person.ts';

const owner = ownerOf('palette');
const { hub, browser } = usePagePlace({ after });

const home = `/w/${owner.workspaceSlug}`;

describe('the palette', { skip: browserMissing }, () => {
  let person: SignedIn;
  let jobId: string;

  before(async () => {
    person = await makeWorkspace(owner);
    const { workspaceId } = person;
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'ci' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    const client = createClient({ baseUrl: hub.baseUrl, token });
    const remoteUrlHash = 'a'.repeat(64);
    const repository = { workspaceId, remoteUrlHash, label: 'acme/api' };
    const { repoId } = await client.repositories.upsert(repository);
    const job = { workspaceId, repoId, kind: 'work' } as const;
    ({ jobId } = await client.jobs.enqueue({ ...job, prompt: 'Paginate the invoices.' }));
    await client.jobs.enqueue({ ...job, prompt: 'Rotate the keys.' });
  });

  async function open(options: VisitOptions) {
    const visit = await openVisit(browser, hub.baseUrl, options);
    await lendSession(visit.context, person);
    const page = await visit.context.newPage();
    await page.goto(`${home}/jobs`);
    await page.getByText('Rotate the keys.').first().waitFor();
    return { visit, page };
  }
  const field = (page: Page) => page.getByRole('combobox', { name: 'Search and run commands' });

  /** The field once it takes what is typed. */
  const focused = (page: Page) => page.locator('input[aria-label="Search and run commands"]:focus');

  it('goes to jobs, repositories and pages and runs actions, by keyboard alone', async () => {
    const { visit, page } = await open({ viewport: { width: 1280, height: 800 } });
    /** Waits for the line at the top, which Enter chooses. */
    const choose = async (text: string, line: RegExp) => {
      await page.keyboard.press('Control+k');
      await focused(page).waitFor();
      await page.keyboard.type(text);
      await page.locator('[role=option][data-highlighted]', { hasText: line }).waitFor();
      await page.keyboard.press('Enter');
      await field(page).waitFor({ state: 'detached' });
    };
    await choose('search jobs', /Search the jobs/);
    await page
      .locator('input[type=search]:focus, input[placeholder^="Search jobs"]:focus')
      .waitFor();
    await choose('paginate the', /Paginate the invoices/);
    await page.waitForURL(`**${home}/jobs/${jobId}*`);
    await choose('acme/api', /acme\/api/);
    await page.getByRole('heading', { name: 'acme/api', level: 1 }).waitFor();
    await choose(jobId, /Paginate the invoices/);
    await page.waitForURL(`**${home}/jobs/${jobId}*`);
    await choose('audit', /Audit log/);
    await page.waitForURL(`**${home}/settings/audit`);
    await choose('dark', /Use the dark theme/);
    await page.locator('html[data-theme=dark]').waitFor();

    await page.keyboard.press('Control+k');
    await focused(page).waitFor();
    await page.keyboard.type('nothing has these words');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await field(page).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).pathname, `${home}/settings/audit`);
    assert.deepEqual(visit.troubles, []);
    await visit.context.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`opens by a button on a ${colorScheme} phone, without faults of accessibility`, async () => {
      const size = { viewport: { width: 360, height: 740 }, hasTouch: true };
      const { visit, page } = await open({ ...size, colorScheme });
      await page.getByRole('button', { name: 'Search and run commands' }).tap();
      await page.getByRole('option', { name: /Agents/ }).waitFor();
      assert.deepEqual(await auditPage(page), []);
      await field(page).fill('rotate');
      const line = page.getByRole('option', { name: /Rotate the keys/ });
      await line.waitFor();
      assert.deepEqual(await auditPage(page), []);
      await line.tap();
      await page.getByRole('heading', { name: 'Rotate the keys.', level: 1 }).waitFor();
      assert.deepEqual(visit.troubles, []);
      await visit.context.close();
    });
  }
});
