import type { Page } from 'playwright-core';
import type { ConsoleWorld } from './console-world.ts';
import { readHeapBytes, type Span, watchSpan } from './page-watch.ts';

const jobsPath = '/w/bench/jobs';
/** A fast fling: three rows in each frame. */
const FLING_PX = 120;
const FLING_MS = 5_000;
const BURST = 200;
/** By then the page has read what a burst changed. */
const QUIET_MS = 3_000;
const TYPED = 'health check';
const KEY_MS = 60;
/** Without a new row for this long, the list does not grow any more. */
const STALL_MS = 30_000;

/** One step at the list, and what the page did meanwhile. */
export interface Step {
  readonly name: string;
  readonly span: Span;
}

export interface ListRound {
  readonly firstViewMs: number;
  readonly scriptBytes: number;
  readonly steps: readonly Step[];
  /** The first view, and after all jobs were scrolled through. */
  readonly heapBytes: readonly [number, number];
}

/** Uses the list of jobs as a person does, from its top to its end. */
export async function useJobList(page: Page, world: ConsoleWorld): Promise<ListRound> {
  const session = await page.context().newCDPSession(page);
  const steps: Step[] = [];
  const step = async (name: string, act: () => Promise<void>) =>
    steps.push({ name, span: await watchSpan(page, act) });
  const beganMs = performance.now();
  await openJobs(page);
  const firstViewMs = performance.now() - beganMs;
  const scriptBytes = await page.evaluate<number>(`performance.getEntriesByType('resource')
    .filter(({ name }) => name.endsWith('.js'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
  await waitLive(page);
  const firstBytes = await readHeapBytes(session);
  await step('changing filters five times', () => changeFilters(page));
  await step('scrolling from the top', () => fling(page, FLING_PX));
  // The trace of all of it would not fit into memory; each page costs more than the one before.
  await scrollTo(page, world.size.jobs * 0.95);
  await step('scrolling to the end', () => scrollTo(page, world.size.jobs));
  const lastBytes = await readHeapBytes(session);
  await step('scrolling at the end', () => fling(page, -FLING_PX));
  await step(`${BURST} new jobs while at the end`, () => enqueueBurst(page, world));
  await page.evaluate('window.scrollTo(0, 0)');
  await step('moving by keys', async () => {
    for (let pressed = 0; pressed < 50; pressed++) await page.keyboard.press('j');
  });
  await step('typing a search', () => search(page));
  await openJobs(page);
  await waitLive(page);
  await step(`${BURST} new jobs while at the top`, () => enqueueBurst(page, world));
  return { firstViewMs, scriptBytes, steps, heapBytes: [firstBytes, lastBytes] };
}

export async function openJobs(page: Page): Promise<void> {
  await page.goto(jobsPath);
  await page.locator('[data-job]').first().waitFor();
}

export function waitLive(page: Page): Promise<void> {
  return page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
}

async function changeFilters(page: Page): Promise<void> {
  for (const status of ['done', 'pending', 'running', 'finished', 'all']) {
    const answered = page.waitForResponse(/\/jobs\/list$/);
    await page.getByLabel('Status', { exact: true }).selectOption(status);
    await answered;
    await page.locator('[data-job]').first().waitFor();
  }
}

function fling(page: Page, pxPerFrame: number): Promise<void> {
  return page.evaluate(`new Promise((resolve) => {
    const endMs = performance.now() + ${FLING_MS};
    const step = () => {
      window.scrollBy(0, ${pxPerFrame});
      if (performance.now() < endMs) requestAnimationFrame(step);
      else resolve();
    };
    step();
  })`);
}

/** Goes to the end of what has been read, again and again, until it has so many jobs. */
function scrollTo(page: Page, jobs: number): Promise<void> {
  return page.evaluate(`new Promise((resolve, reject) => {
    let known = 0;
    let grownMs = performance.now();
    const step = () => {
      const row = document.querySelector('[aria-label=Jobs] li');
      const size = Number(row?.getAttribute('aria-setsize') ?? 0);
      if (size > known) {
        known = size;
        grownMs = performance.now();
      }
      if (size >= ${jobs}) return resolve();
      if (performance.now() - grownMs > ${STALL_MS})
        return reject(new Error('the list stopped growing at ' + known));
      window.scrollTo(0, document.documentElement.scrollHeight);
      requestAnimationFrame(step);
    };
    step();
  })`);
}

async function enqueueBurst(page: Page, { client, ...world }: ConsoleWorld): Promise<void> {
  const { workspaceId, repoId } = world;
  for (let number = 0; number < BURST; number++) {
    const prompt = `Job ${number} of a burst.`;
    await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
  }
  await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${QUIET_MS}))`);
}

async function search(page: Page): Promise<void> {
  const answered = page.waitForResponse(
    (response) => response.request().postDataJSON()?.text === TYPED,
  );
  await page.getByRole('searchbox', { name: 'Search titles and IDs' }).click();
  await page.keyboard.type(TYPED, { delay: KEY_MS });
  await answered;
  await page.locator('[data-job]').first().waitFor();
}
