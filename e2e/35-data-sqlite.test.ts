import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, followLink, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditScreens } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { joinWorkspace, lendSession, type SignedIn } from './person.ts';

const owner = ownerOf('data');
const { hub, browser } = usePagePlace({ after });

const desktop: VisitOptions = { viewport: { width: 1280, height: 800 } };

describe('context and uploads, in a browser', { skip: browserMissing }, () => {
  let ada: SignedIn;
  let client: Client;
  let visit: Visit;
  let page: Page;

  before(async () => {
    ada = await makeWorkspace(owner);
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    visit = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
  });

  const contextPath = `/w/${owner.workspaceSlug}/settings/data`;
  const uploadsPath = `${contextPath}?tab=uploads`;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const confirm = (name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name }).click();

  async function upload(fileName: string, text: string, isSent = true): Promise<void> {
    const { uploadUrl } = await client.uploads.create({
      workspaceId: ada.workspaceId,
      fileName,
      contentType: 'application/octet-stream',
      sizeBytes: text.length,
    });
    if (!isSent) return;
    const response = await fetch(uploadUrl, { method: 'PUT', body: text });
    assert.equal(response.status, 200, await response.text());
  }

  it('shows both pages empty, with how to begin', async () => {
    await audit('empty', { [contextPath]: 'No context yet', [uploadsPath]: 'No uploads yet' });
    await page.goto(contextPath);
    await page.getByText('context add').first().waitFor();
  });

  it('lists items as they come, searches them, and shows the text of one', async () => {
    const { workspaceId } = ada;
    const add = (kind: 'note' | 'decision', title: string, text: string) =>
      client.contextItems.upsert({ workspaceId, kind, title, text, source: 'wiki' });
    await add('decision', 'Rounding', 'Amounts are rounded half to even.');
    await add('note', 'Style', 'Endpoints reveal no versions.');
    const items = page.getByRole('list', { name: 'Context items' });
    await items.getByText('Style').waitFor();
    await page.getByLabel('Search the context').fill('rounded amounts');
    await page.keyboard.press('Enter');
    await items.getByText('Style').waitFor({ state: 'detached' });
    await page.waitForURL('**/data?text=rounded**');
    await items.getByText('Rounding').click();
    await page.getByText('Trust: written by a member').waitFor();
    await items.locator('details div', { hasText: 'half to even' }).first().waitFor();
    await page.getByLabel('Search the context').fill('nothing of the kind');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No item matches' }).waitFor();
    await button('Clear').click();
    await items.getByText('Style').waitFor();
  });

  it('shows uploads and the use of the quota as they come', async () => {
    await page.getByRole('tab', { name: 'Uploads' }).click();
    await page.getByRole('heading', { name: 'No uploads yet' }).waitFor();
    await upload('requirements.bin', 'x'.repeat(200_000));
    await upload('announced.bin', 'later', false);
    const uploads = page.getByRole('list', { name: 'Uploads' });
    await uploads.getByText('incomplete').waitFor();
    await uploads.getByText('by robot').first().waitFor();
    await page.getByText('2 files. Each counts as at least 4 KB.').waitFor();
    const meter = page.getByRole('meter', { name: 'Stored' });
    assert.equal(await meter.getAttribute('aria-valuetext'), '199 KB of 9.3 GB');
    const download = page.waitForEvent('download');
    await button('Download requirements.bin').click();
    assert.equal((await download).suggestedFilename(), 'requirements.bin');
  });

  it('passes the audit with records, at both sizes and in both themes', async () => {
    await audit('filled', { [contextPath]: 'Context', [uploadsPath]: 'Uploads' });
  });

  it('refuses a viewer with a reason', async () => {
    const viewer = await joinWorkspace(ada, 'Vera', 'viewer');
    const own = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(own.context, viewer);
    const view = await own.context.newPage();
    await view.goto(uploadsPath);
    // A press is allowed, although the control says that it is disabled: it shows the reason.
    await view.getByRole('button', { name: 'Delete announced.bin' }).click({ force: true });
    await view.getByText('Viewers can read only.').first().waitFor();
    assert.deepEqual(own.troubles, []);
    await own.context.close();
  });

  it('deletes an upload and removes an item', async () => {
    await button('Delete announced.bin').click();
    await confirm('Delete');
    await page.getByText('1 file. Each counts as at least 4 KB.').waitFor();
    await page.getByRole('tab', { name: 'Context' }).click();
    const items = page.getByRole('list', { name: 'Context items' });
    await items.getByText('Style').click();
    await button('Remove Style').click();
    await confirm('Remove');
    await items.getByText('Style').waitFor({ state: 'detached' });
    await items.getByText('Rounding').waitFor();
    assert.deepEqual(visit.troubles, []);
  });

  /** Holds pages, each known by a heading, against the audit; unfolds the first item. */
  async function audit(state: string, scenes: Readonly<Record<string, string>>): Promise<void> {
    const faults: string[] = [];
    const view = await visit.context.newPage();
    for (const [path, heading] of Object.entries(scenes)) {
      await followLink(view, path);
      await view.getByRole('heading', { name: heading, exact: true }).first().waitFor();
      await view.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
      if (state === 'filled') await view.locator('main li').first().waitFor();
      if (state === 'filled' && path === contextPath) {
        await view.locator('main ol summary').first().click();
        await view.getByText('Endpoints reveal no versions.').nth(1).waitFor();
      }
      const name = path === contextPath ? 'context' : 'uploads';
      faults.push(...(await auditScreens(view, `data-${name}-${state}`)));
    }
    await view.close();
    assert.deepEqual(faults, []);
  }
});
