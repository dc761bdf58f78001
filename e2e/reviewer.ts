import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

/** The windows of two reviewers: one works by keyboard, the other by touches. */
export const desktop = { viewport: { width: 1280, height: 800 } };
export const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

const TABS_MAX = 80;

/** Waits until the page of a job shows the work in a state. */
export function untilWork(page: Page, word: string): Promise<void> {
  return page
    .getByRole('status', { name: 'State of the work' })
    .getByText(word, { exact: true })
    .waitFor();
}

export function untilFocused(target: Locator): Promise<void> {
  return target.and(target.page().locator(':focus')).waitFor();
}

export function buttonOf(place: Page | Locator, name: string): Locator {
  return place.getByRole('button', { name, exact: true });
}

/** Moves the focus to a control as a person without a mouse does. */
export async function tabTo(target: Locator): Promise<void> {
  const page = target.page();
  const focused = target.and(page.locator(':focus'));
  await target.waitFor();
  for (let pressed = 0; pressed < TABS_MAX; pressed++) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${target} is not reached by Tab`);
}

/** Presses a button without a mouse. */
export async function pressByKey(target: Locator): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.press('Enter');
}
