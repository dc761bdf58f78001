// The screenshots that the README shows.
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { lendSession } from '../../e2e/person.ts';
import type { ConsolePage } from './console-pages.ts';
import type { SeededConsole } from './seeded-console.ts';

const viewport = { width: 1280, height: 800 };
/** By the name of a page: its file, and an element that is there when all of it is shown. */
const shown = {
  jobs: { file: 'jobs', whole: 'main ol li' },
  // Markdown is drawn by code that is loaded after the page.
  'job-done': { file: 'job', whole: 'main strong' },
} as const;

/** Takes the pictures of the README in a seeded workspace, in both themes. */
export async function takeScreenshots(
  browser: Browser,
  { baseUrl, session }: SeededConsole,
  pages: readonly ConsolePage[],
  folder: string,
): Promise<string[]> {
  const paths: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ baseURL: baseUrl, viewport, colorScheme });
    await lendSession(context, session);
    const page = await context.newPage();
    for (const [name, { file, whole }] of Object.entries(shown)) {
      await page.goto(pages.find((each) => each.name === name)?.path ?? '');
      await page.locator(whole).first().waitFor();
      paths.push(await take(page, join(folder, `${file}-${colorScheme}.png`)));
    }
    await context.close();
  }
  return paths;
}

async function take(page: Page, path: string): Promise<string> {
  // The stream of changes stays open, so the network is never idle.
  await page.locator('main h1, main h2').first().waitFor();
  await page.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
  // Away from the rows, which show their checkbox under the pointer.
  await page.mouse.move(0, 0);
  await page.screenshot({ path, animations: 'disabled' });
  return path;
}
