import type { Page } from 'playwright-core';
import type { ConsoleWorld } from './console-world.ts';
import { openJobs, waitLive } from './list-steps.ts';

/** Between two new jobs, so that each finds pages at rest. */
const REST_MS = 2_000;

/** The times from an enqueue's answer until each of the browsers shows the job, the slower one. */
export async function watchNewJobs(
  pages: readonly Page[],
  { client, workspaceId, repoId }: ConsoleWorld,
  count: number,
): Promise<number[]> {
  for (const page of pages) {
    await openJobs(page);
    await waitLive(page);
  }
  const tookMs: number[] = [];
  for (let number = 0; number < count; number++) {
    await pages[0]?.evaluate(`new Promise((resolve) => setTimeout(resolve, ${REST_MS}))`);
    const prompt = `New job ${number}, seen by all.`;
    const seen = pages.map((page) => page.evaluate<number>(whenShown(prompt)));
    await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
    const answeredMs = Date.now();
    tookMs.push(Math.max(...(await Promise.all(seen))) - answeredMs);
  }
  return tookMs;
}

function whenShown(title: string): string {
  return `new Promise((resolve) => {
    const look = () => {
      if (document.querySelector('[data-job][title="${title}"]') === null) return false;
      resolve(Date.now());
      return true;
    };
    if (look()) return;
    const observer = new MutationObserver(() => look() && observer.disconnect());
    observer.observe(document.body, { childList: true, subtree: true, attributes: true });
  })`;
}
