// Pictures of every page of the console, in every state, theme and width, for a person to look at.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { lendSession, type SignedIn } from '../../e2e/person.ts';
import {
  type ConsolePage,
  guestPages,
  overlays,
  pagesOfRecords,
  pagesWithoutRecords,
} from './console-pages.ts';
import { type Picture, writeOverview } from './overview-page.ts';
import type { SeededConsole } from './seeded-console.ts';

const screens: Readonly<Record<string, BrowserContextOptions>> = {
  1280: { viewport: { width: 1280, height: 800 } },
  360: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};
/** A page is complete when it asks for nothing during these rounds. */
const QUIET_ROUNDS = 3;
const QUIET_ROUND_MS = 100;
/** A longer page is cut. */
const HEIGHT_MAX = 2_500;
const themes = ['light', 'dark'] as const;
/** A read that fails is tried three times within this time. */
const STEP_MS_MAX = 30_000;
/** Calls that the frame around a page needs; in the states below, all others fail or wait. */
const frameCalls = /\/(session\/get|changes\/stream)/;

type State = 'empty' | 'full' | 'no-permission' | 'loading' | 'error' | 'guest';

interface Shooting {
  browser: Browser;
  baseUrl: string;
  folder: string;
  /** A part of the names of the pages to show; empty for all. */
  filter: string;
  pictures: Picture[];
}

/** Seeds the workspace, takes the pictures, and writes a page that shows them all. */
export async function takePagePictures(
  browser: Browser,
  place: SeededConsole,
  folder: string,
  filter: string,
): Promise<{ overview: string; pages: readonly ConsolePage[] }> {
  if (filter === '') rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { baseUrl, owner, session } = place;
  const shooting: Shooting = { browser, baseUrl, folder, filter, pictures: [] };
  await shoot(shooting, 'empty', pagesWithoutRecords(), session);
  const { viewer, richJobId } = await place.seed();
  const pages = await pagesOfRecords(owner, richJobId);
  const running = pages.find(({ name }) => name === 'job-running')?.path ?? '';
  await shoot(shooting, 'full', [...pages, ...overlays(running)], session);
  await shoot(shooting, 'no-permission', pages, viewer);
  await shoot(shooting, 'loading', pages, session);
  await shoot(shooting, 'error', pages, session);
  await shoot(shooting, 'guest', guestPages(place.firstOwnerUrl), null);
  return { overview: writeOverview(folder, shooting.pictures), pages };
}

async function shoot(
  shooting: Shooting,
  state: State,
  pages: readonly ConsolePage[],
  person: SignedIn | null,
): Promise<void> {
  const { browser, baseUrl, filter } = shooting;
  const chosen = pages.filter(({ name }) => name.includes(filter));
  const startMs = performance.now();
  await Promise.all(
    Object.entries(screens).map(async ([width, options]) => {
      const context = await browser.newContext({
        ...{ baseURL: baseUrl, reducedMotion: 'reduce', ...options },
      });
      context.setDefaultTimeout(STEP_MS_MAX);
      if (person !== null) await lendSession(context, person);
      if (state === 'loading' || state === 'error') {
        await context.route('**/console-api/**', async (route) => {
          if (frameCalls.test(route.request().url())) await route.continue();
          else if (state === 'error') await route.abort('connectionrefused');
        });
      }
      // A page each: what one has read would be shown by the next one while it loads.
      for (const chosenPage of chosen) {
        const page = await context.newPage();
        await shootPage(shooting, page, state, chosenPage, width);
        await page.close();
      }
      await context.close();
    }),
  );
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
  process.stdout.write(`${state}: ${chosen.length} pages in ${seconds} s\n`);
}

async function shootPage(
  { folder, pictures }: Shooting,
  page: Page,
  state: State,
  { name, path, act }: ConsolePage,
  width: string,
): Promise<void> {
  const calls = countCalls(page);
  await page.goto(path, { waitUntil: 'domcontentloaded' });
  // Away from the rows, which show their checkbox under the pointer.
  await page.mouse.move(0, 0);
  const view = `${name}-${state}-${width}`;
  await waitForState(page, state).catch((cause) => {
    throw new Error(`The page does not show that it is in this state: ${view}`, { cause });
  });
  if (state !== 'loading') await calls.end();
  await act?.(page);
  await showWhole(page);
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    const file = `${view}-${theme}.png`;
    await page.screenshot({ path: join(folder, file), animations: 'disabled' });
    pictures.push({ name, state, width, theme, file });
  }
}

/** Waits until a page has read all that it shows. Its stream stays open, so it is not counted. */
function countCalls(page: Page): { end(): Promise<void> } {
  const open = new Set<Request>();
  page.on('request', (request) => {
    if (request.url().includes('/console-api/') && !frameCalls.test(request.url())) {
      open.add(request);
    }
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return {
    async end() {
      const deadlineMs = performance.now() + STEP_MS_MAX;
      for (let quietRounds = 0; quietRounds < QUIET_ROUNDS; quietRounds += 1) {
        await wait(QUIET_ROUND_MS);
        if (open.size > 0) quietRounds = 0;
        if (performance.now() > deadlineMs) return;
      }
    },
  };
}

/** Makes the window as high as the page, so that bars stay at its edges. */
async function showWhole(page: Page): Promise<void> {
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  const wanted = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.setViewportSize({ width, height: Math.min(Math.max(wanted, height), HEIGHT_MAX) });
}

async function waitForState(page: Page, state: State): Promise<void> {
  const pulse = page.locator('main .animate-pulse').first();
  if (state === 'loading') {
    // Behind the frame of the page. Pages that read nothing have nothing to wait for.
    await page.getByRole('main').getByRole('status').or(page.locator('main h1')).first().waitFor();
    await page.getByRole('navigation').first().waitFor();
    return;
  }
  if (state === 'error') {
    await page.locator('main').getByRole('alert').or(page.locator('main form')).first().waitFor();
    return;
  }
  await page.locator('main h1, main h2').first().waitFor();
  await pulse.waitFor({ state: 'detached' });
}
