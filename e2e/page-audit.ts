import axe from 'axe-core';
import type { Page } from 'playwright-core';

/*
 * The rules for every page, for any content: those of axe-core for WCAG 2.2 AA, and a few of our
 * own. No substitute for a person who looks.
 */

/** The rules of axe-core that every page passes. */
const axeRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Roles that a person acts on, or that represent something: without a name they say nothing. */
const namedRoles =
  'button|link|textbox|combobox|checkbox|menuitem|alertdialog|dialog|log|navigation|img';

/** The rules of axe-core among them that depend on colors. */
const axeColorRules = ['color-contrast', 'link-in-text-block'];

/** Every fault of the page as it is shown now, in a sentence each. */
export async function auditPage(page: Page): Promise<string[]> {
  const tree = await page.locator('body').ariaSnapshot();
  const nameless = new RegExp(`^\\s*- (?:${namedRoles})(?: \\[[^\\]]*\\])*:?$`, 'gm');
  return [
    ...Array.from(tree.matchAll(nameless), ([line]) => `nameless ${line.trim()}`),
    ...(await page.evaluate(auditStructure)),
    ...(await page.evaluate(auditTargets)),
    ...(await page.evaluate(auditContrast)),
    ...(await auditByAxe(page, { type: 'tag', values: axeRules })),
  ];
}

/**
 * Every fault of the page in light and in dark. A color scheme changes nothing but colors, so the
 * names, the structure and the sizes are held against the rules only once.
 *
 * @param view begins each fault's line, before the color scheme.
 * @param look is called in each color scheme with the name of the view, such as for a picture.
 */
export async function auditSchemes(
  page: Page,
  view: string,
  look: (view: string) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await look(`${view}-${colorScheme}`);
    const found = await (colorScheme === 'light' ? auditPage(page) : auditColors(page));
    faults.push(...found.map((fault) => `${view}-${colorScheme}: ${fault}`));
  }
  return faults;
}

async function auditColors(page: Page): Promise<string[]> {
  return [
    ...(await page.evaluate(auditContrast)),
    ...(await auditByAxe(page, { type: 'rule', values: axeColorRules })),
  ];
}

/** The violations that axe-core finds, one per element. */
async function auditByAxe(
  page: Page,
  runOnly: { type: 'tag' | 'rule'; values: readonly string[] },
): Promise<string[]> {
  // The source puts itself into the page under this name.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axe.source);
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
