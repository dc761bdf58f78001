import { accessSync, constants } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The headless shell is Chromium without its windows; it takes a third less of the processor. */
const chromiumPaths = process.env.SIGNALBOX_TEST_CHROMIUM
  ? [process.env.SIGNALBOX_TEST_CHROMIUM]
  : ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const chromiumPath = chromiumPaths.find(canRun);

/** Why scenarios in the browser are skipped; false when they run. */
export const browserMissing = findBrowserFault();

/** Generous for two busy cores; a page that is well is waited for by what it shows. */
const STEP_MS_MAX = 30_000;

function findBrowserFault(): string | false {
  if (chromiumPath !== undefined) return false;
  const paths = chromiumPaths.join(' or ');
  return `there is no ${paths}; install one, or name it in SIGNALBOX_TEST_CHROMIUM`;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts a real Chromium that talks only to the hub. Close it when the scenario ends. */
export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error(String(browserMissing));
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      // Build machines run as root, where Chromium's own sandbox cannot.
      ...['--no-sandbox', '--disable-gpu', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

/** One person's browser profile, and what went wrong in any of its pages. */
export interface Visit {
  readonly context: BrowserContext;
  /**
   * Errors and warnings of the browser's console (content-security-policy violations are among
   * them), uncaught exceptions, answers of 500 and above, requests to anywhere but the hub.
   */
  readonly troubles: readonly string[];
}

export type VisitOptions = NonNullable<Parameters<Browser['newContext']>[0]>;

/** Opens a profile without cookies that watches all its pages. */
export async function openVisit(
  browser: Browser,
  baseUrl: string,
  options: VisitOptions = {},
): Promise<Visit> {
  // Without a graphics card, each frame of an animation is painted by the processor.
  const reducedMotion = 'reduce';
  const context = await browser.newContext({ baseURL: baseUrl, reducedMotion, ...options });
  context.setDefaultTimeout(STEP_MS_MAX);
  const troubles: string[] = [];
  context.on('console', (message) => {
    const isBad = message.type() === 'error' || message.type() === 'warning';
    if (isBad && !isRefusal(message.text(), message.location().url)) {
      troubles.push(`console ${message.type()}: ${message.text()}`);
    }
  });
  context.on('weberror', (webError) => troubles.push(`exception: ${webError.error().stack}`));
  context.on('request', (request) => {
    const url = new URL(request.url());
    const isOwn = url.origin === new URL(baseUrl).origin || url.protocol === 'data:';
    if (!isOwn) troubles.push(`request to ${url.href}`);
  });
  context.on('response', (response) => {
    if (response.status() >= 500) troubles.push(`${response.status()} of ${response.url()}`);
  });
  return { context, troubles };
}

/**
 * Shows a page of the console to a person who is signed in, as a link does: loading the console
 * again takes several times as much of the processor. A page without content comes in between, so
 * that the content that is waited for afterwards is of the new page.
 */
export async function followLink(page: Page, path: string): Promise<void> {
  if (page.url() === 'about:blank') return void (await page.goto(path));
  await page.evaluate("history.pushState(null, '', '/w/nowhere')");
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
}

/** Browsers log each answer of 400 or 401 as an error; to the console these are plain refusals. */
function isRefusal(text: string, url: string): boolean {
  return (
    /status of 40[01] /.test(text) && new URL(url, 'file:').pathname.startsWith('/console-api/')
  );
}
