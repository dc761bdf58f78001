import type { Page } from 'playwright-core';
import type { ConsoleWorld } from './console-world.ts';
import { readHeapBytes } from './page-watch.ts';

/** The page waits this long for a pause in typing before it searches. */
export const TYPING_PAUSE_MS = 300;

export interface LogRound {
  readonly openMs: number;
  readonly searchMs: number;
  readonly heapBytes: number;
}

/** Opens a long log at its end, and searches it. */
export async function useLog(page: Page, world: ConsoleWorld): Promise<LogRound> {
  const { logLines } = world.size;
  await page.goto('about:blank');
  await page.goto(`/w/bench/jobs/${world.logJobId}`);
  const tab = page.getByRole('tab', { name: 'Log' });
  await tab.waitFor();
  let beganMs = performance.now();
  await tab.click();
  await page.locator(`[data-line="${logLines}"]`).waitFor();
  const openMs = performance.now() - beganMs;
  const found = `${Math.floor(logLines / 99_999)} lines`;
  beganMs = performance.now();
  await page.getByRole('searchbox', { name: 'Search the log' }).fill('characters error');
  await page.getByText(found, { exact: true }).waitFor();
  const searchMs = performance.now() - beganMs;
  const session = await page.context().newCDPSession(page);
  return { openMs, searchMs, heapBytes: await readHeapBytes(session) };
}
