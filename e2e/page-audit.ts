import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/*
 * The rules for every page, for any content: those of axe-core for WCAG 2.2 AA, and a few of our
 * own. No substitute for a person who looks.
 */

/** The smaller one of its files: each page parses it. */
const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const axeSource = readFileSync(axeFile, 'utf8');
/** The rules of axe-core that every page passes. */
const axeRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Roles that a person acts on, or that represent something: without a name they say nothing. */
const namedRoles =
  'button|link|textbox|combobox|checkbox|menuitem|alertdialog|dialog|log|navigation|img';

/** A folder to keep the pictures in, for a person to look at; without it none are taken. */
export const pictureDir = process.env.SIGNALBOX_TEST_SCREENSHOTS;
const screenSizes = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 360, height: 740 },
} as const;

/** Every fault of the page as it is shown now, in a sentence each. */
export async function auditPage(page: Page): Promise<string[]> {
  const tree = await page.locator('body').ariaSnapshot();
  const nameless = new RegExp(`^\\s*- (?:${namedRoles})(?: \\[[^\\]]*\\])*:?$`, 'gm');
  return [
    ...Array.from(tree.matchAll(nameless), ([line]) => `nameless ${line.trim()}`),
    ...(await page.evaluate(auditStructure)),
    ...(await page.evaluate(auditTargets)),
    ...(await page.evaluate(auditContrast)),
    ...(await auditByAxe(page)),
  ];
}

/**
 * Every fault of the page in light and in dark. A color scheme changes nothing but colors, so all
 * rules are held in one scheme, light on a desktop and dark on a phone, and the contrast in both.
 *
 * @param view begins each fault's line, and names its pictures.
 */
export async function auditSchemes(page: Page, view: string): Promise<string[]> {
  const main = page.viewportSize()?.width === screenSizes.phone.width ? 'dark' : 'light';
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await keepPicture(page, `${view}-${colorScheme}`);
    const found = await (colorScheme === main ? auditPage(page) : page.evaluate(auditContrast));
    faults.push(...found.map((fault) => `${view}-${colorScheme}: ${fault}`));
  }
  return faults;
}

/**
 * Every fault of the page on a desktop and on a phone, whose window and touch it gets: to load a
 * page again costs more than the rules do. The page must be loaded again to be used with a mouse.
 */
export async function auditScreens(page: Page, view: string): Promise<string[]> {
  await page.setViewportSize(screenSizes.desktop);
  const faults = await auditSchemes(page, `${view}-desktop`);
  const devTools = await page.context().newCDPSession(page);
  await page.setViewportSize(screenSizes.phone);
  const metrics = { ...screenSizes.phone, deviceScaleFactor: 0, mobile: true };
  await devTools.send('Emulation.setDeviceMetricsOverride', metrics);
  await devTools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  faults.push(...(await auditSchemes(page, `${view}-phone`)));
  await devTools.detach();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(screenSizes.desktop);
  return faults;
}

/** Every fault of the page in a wide and in a narrow window, which is then as it was, in light. */
export async function auditWidths(page: Page, view: string): Promise<string[]> {
  const before = page.viewportSize();
  const faults: string[] = [];
  for (const [screen, size] of Object.entries(screenSizes)) {
    await page.setViewportSize(size);
    faults.push(...(await auditSchemes(page, `${view}-${screen}`)));
  }
  await page.emulateMedia({ colorScheme: 'light' });
  if (before !== null) await page.setViewportSize(before);
  return faults;
}

/** Keeps a picture of the whole page. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (pictureDir === undefined) return;
  mkdirSync(pictureDir, { recursive: true });
  // Elements fixed to the top of the window belong at the top of the picture.
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(pictureDir, `${name}.png`), fullPage: true });
}

/** The violations that axe-core finds, one per element. */
async function auditByAxe(page: Page): Promise<string[]> {
  // The source puts itself into the page under this name.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axeSource);
  const runOnly = { type: 'tag', values: axeRules };
  const options = { runOnly, resultTypes: ['violations'] };
  // Base UI keeps the focus in its popups by hidden elements that pass it on at once.
  const context = { exclude: ['[data-base-ui-focus-guard]'] };
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)})`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html }) => `axe ${id}: ${help}: ${html.slice(0, 160)}`),
  );
}

/** The part of axe-core's answer that is read. */
interface AxeResults {
  violations: { id: string; help: string; nodes: { html: string }[] }[];
}

/* The few things of a browser that the function below touches: Node has no types for them. */
interface PageElement {
  readonly tagName: string;
  readonly id: string;
  readonly textContent: string;
  readonly parentElement: PageElement | null;
  matches(selector: string): boolean;
  getBoundingClientRect(): { width: number; height: number };
  checkVisibility(options: object): boolean;
}
interface PageCanvas {
  fillStyle: string;
  clearRect(x: number, y: number, width: number, height: number): void;
  fillRect(x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { data: number[] };
}
declare const document: {
  title: string;
  documentElement: PageElement & { lang: string; scrollWidth: number; clientWidth: number };
  querySelectorAll(selector: string): Iterable<PageElement>;
  createElement(name: string): { getContext(kind: string, options: object): PageCanvas };
  createTreeWalker(
    root: PageElement,
    show: number,
  ): {
    nextNode(): { textContent: string; parentElement: PageElement | null } | null;
  };
};
declare function getComputedStyle(
  element: PageElement,
  pseudo?: string,
): {
  display: string;
  position: string;
  color: string;
  backgroundColor: string;
  fontSize: string;
  fontWeight: string;
};

/* Each of these runs in the page, so it holds all that it needs. */

function auditStructure(): string[] {
  const faults: string[] = [];
  const root = document.documentElement;
  const all = (selector: string) => [...document.querySelectorAll(selector)];
  if (root.scrollWidth > root.clientWidth) {
    faults.push(`wider than the window by ${root.scrollWidth - root.clientWidth} px`);
  }
  if (root.lang === '') faults.push('no language');
  if (document.title.trim() === '') faults.push('no title');
  for (const one of ['main', 'h1']) {
    const count = all(one).filter((element) => element.checkVisibility({})).length;
    if (count !== 1) faults.push(`${count} elements ${one}`);
  }
  const ids = all('[id]').map(({ id }) => id);
  for (const id of ids.filter((each, at) => ids.indexOf(each) !== at)) faults.push(`two ids ${id}`);
  return faults;
}

/** WCAG 2.2, 2.5.8: targets of 24 by 24 px; links within sentences are excepted. */
function auditTargets(): string[] {
  const faults: string[] = [];
  for (const control of document.querySelectorAll('button, select, input, summary, a[href]')) {
    const { width, height } = control.getBoundingClientRect();
    // Numbers of lines, too: a line is as high as its text, and Tab and keys reach it as well.
    const isInSentence =
      getComputedStyle(control).display === 'inline' ||
      control.matches('[role=log] a, .review-number');
    // A label is a part of the target; so is what a link lays over its whole row.
    const isWidened =
      control.matches('label input, .sr-only, input[aria-hidden=true]') ||
      getComputedStyle(control, '::after').position === 'absolute';
    if (isInSentence || isWidened || !control.checkVisibility({ visibilityProperty: true }))
      continue;
    if (width < 24 || height < 24) {
      const name = control.textContent.trim().slice(0, 40);
      const size = `${Math.round(width)} by ${Math.round(height)} px`;
      faults.push(`${control.tagName.toLowerCase()} “${name}” is ${size}`);
    }
  }
  return faults;
}

/** WCAG 2.2, 1.4.3: contrast of text, composed as it is painted. */
function auditContrast(): string[] {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  // Reading a painted pixel is slow, and most texts have the same few colors.
  const luminances = new Map<string, number>();
  const luminanceOf = (colors: readonly string[]): number => {
    const key = colors.join();
    const known = luminances.get(key) ?? paint(colors);
    luminances.set(key, known);
    return known;
  };
  const paint = (colors: readonly string[]) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
    const linear = (channel: number) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const contrastOf = (element: PageElement, color: string) => {
    const layers: string[] = [];
    for (let at: PageElement | null = element; at !== null; at = at.parentElement) {
      layers.unshift(getComputedStyle(at).backgroundColor);
    }
    const back = luminanceOf(['white', ...layers]);
    const front = luminanceOf(['white', ...layers, color]);
    return (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05);
  };
  const faults = new Set<string>();
  const textNodes = document.createTreeWalker(document.documentElement, 4);
  for (let node = textNodes.nextNode(); node !== null; node = textNodes.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (text === '' || !element?.checkVisibility({ visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const sizePx = Number.parseFloat(fontSize);
    const isLarge = sizePx >= 24 || (sizePx >= 18.66 && Number(fontWeight) >= 700);
    const contrast = contrastOf(element, color);
    if (contrast < (isLarge ? 3 : 4.5) && !element.matches('option, .sr-only')) {
      faults.add(`“${text.slice(0, 40)}” has a contrast of ${contrast.toFixed(2)}`);
    }
  }
  return [...faults];
}
