import { act, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach } from 'vitest';

// React requires this flag in test environments (react.dev, act).
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const unmounts: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const unmount of unmounts.splice(0)) await unmount();
});

export interface Rendered {
  box: HTMLElement;
  update: (node: ReactNode) => Promise<void>;
}

/** Renders into the test's document; unmounted after the test. */
export async function render(node: ReactNode): Promise<Rendered> {
  const box = document.createElement('div');
  document.body.append(box);
  const root = createRoot(box);
  const update = (next: ReactNode) => act(async () => root.render(next));
  unmounts.push(async () => {
    await act(async () => root.unmount());
    box.remove();
  });
  await update(node);
  return { box, update };
}

/** Sets the value of an input as typing or pasting does, so that React notices it. */
export async function typeInto(input: HTMLInputElement, value: string): Promise<void> {
  await act(async () => {
    // React overrides the element's value property; the prototype's setter bypasses that.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

export async function click(element: Element): Promise<void> {
  await act(async () => {
    element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
  });
}
