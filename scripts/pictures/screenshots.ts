import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../e2e/browser.ts';
import { spawnInTerminal } from '../demo/test/pseudo-terminal.ts';

const viewport = { width: 1280, height: 800 };
/** A seeded demo is ready when it names the key that ends it. */
const ready = /Console\s+(\S+)\s+E-mail\s+(\S+)\s+Password\s+(\S+)[\s\S]*Ctrl-C/;

interface Place {
  consoleUrl: string;
  email: string;
  password: string;
}

/** Takes the pictures of the README from a seeded demo, in both themes. */
export async function takeScreenshots(root: string, folder: string): Promise<string[]> {
  const demo = spawnInTerminal([process.execPath, join(root, 'scripts/demo.ts'), '--keep-open'], {
    columns: 200,
    env: process.env,
  });
  const ended = once(demo, 'close');
  const browser = await launchBrowser();
  try {
    const place = await readPlace(demo.stdout);
    const names: string[] = [];
    for (const theme of ['light', 'dark'] as const) {
      names.push(...(await takeTheme(browser, place, theme, folder)));
    }
    return names;
  } finally {
    await browser.close();
    demo.stdin?.write('\x03');
    await ended;
  }
}

async function readPlace(output: NodeJS.ReadableStream | null): Promise<Place> {
  let text = '';
  for await (const part of output ?? []) {
    text += stripVTControlCharacters(String(part));
    const [, consoleUrl, email, password] = ready.exec(text) ?? [];
    if (consoleUrl !== undefined && email !== undefined && password !== undefined) {
      return { consoleUrl, email, password };
    }
  }
  throw new Error(`The demo ended before it was ready:\n${text}`);
}

async function takeTheme(
  browser: Browser,
  { consoleUrl, email, password }: Place,
  theme: 'light' | 'dark',
  folder: string,
): Promise<string[]> {
  const context = await browser.newContext({ viewport, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(consoleUrl);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  // Away from the rows, which show their checkbox under the pointer.
  await page.mouse.move(0, 0);
  const list = await take(page, join(folder, `jobs-${theme}.png`));
  await page.goto(`${consoleUrl}?status=done`);
  await page.locator('a[href*="/jobs/job_"]').first().click();
  await page.getByRole('tab', { name: 'Overview' }).waitFor();
  const job = await take(page, join(folder, `job-${theme}.png`));
  await context.close();
  return [list, job];
}

async function take(page: Page, path: string): Promise<string> {
  // The stream of changes stays open, so the network is never idle.
  await page.locator('main h1, main h2').first().waitFor();
  await page.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
  await page.screenshot({ path, animations: 'disabled' });
  return path;
}
