import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { auditSchemes } from './page-audit.ts';
import { usePagePlace } from './page-place.ts';

const { hub, browser } = usePagePlace({ after });

/* The documentation as a hub serves it, to people who are not signed in. */
describe('the documentation of a hub', { skip: browserMissing }, () => {
  for (const width of [1280, 360]) {
    describe(`at ${width} px`, () => {
      let visit: Visit;
      let page: Page;

      before(async () => {
        visit = await openVisit(browser, hub.baseUrl, {
          viewport: { width, height: 800 },
          permissions: ['clipboard-read', 'clipboard-write'],
        });
        page = await visit.context.newPage();
        await page.goto('/docs/start/ci');
      });
      after(() => visit.context.close());

      it('finds a section by words, with the keyboard alone', async () => {
        await page.keyboard.press('/');
        await page.keyboard.type('lease expir');
        await page.locator('search').getByRole('link', { name: 'Expiry' }).waitFor();
        assert.deepEqual(await auditSchemes(page, `41-search-${width}`), []);
        await page.keyboard.type('zzz');
        await page.getByText('Nothing found.').waitFor();
        await page.getByLabel('Search the documentation').fill('budget of a tree');
        const first = page.locator('search').getByRole('link').first();
        const href = await first.getAttribute('href');
        await page.keyboard.press('Enter');
        await page.waitForURL((url) => url.pathname + url.hash === href);
        const [, id = ''] = (href ?? '').split('#');
        assert.ok(await page.locator(`[id="${id}"]`).isVisible());
      });

      it('copies an example', async () => {
        await page.goto('/docs/start/ci');
        await page.getByRole('button', { name: 'Copy' }).first().click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        const example = await page.locator('pre code').first().textContent();
        assert.equal(await page.evaluate('navigator.clipboard.readText()'), example);
        assert.deepEqual(await auditSchemes(page, `41-page-${width}`), []);
      });

      it('sees no violation of the content security policy and no error of the browser', () => {
        assert.deepEqual(visit.troubles, []);
      });
    });
  }
});
