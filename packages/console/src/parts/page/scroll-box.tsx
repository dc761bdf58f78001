import type { ReactNode } from 'react';
import { classNames } from '../../class-names.ts';

/** Makes a box a tab stop while it has something to scroll, so that keyboards can scroll it. */
export function keepReachable(box: HTMLElement | null) {
  if (box === null) return undefined;
  const observer = new ResizeObserver(() => {
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = box;
    if (scrollHeight > clientHeight || scrollWidth > clientWidth) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
  });
  observer.observe(box);
  return () => observer.disconnect();
}

/** Text of any length in a box of limited height; line breaks are kept. */
export function ScrollBox({ className, children }: { className: string; children: ReactNode }) {
  return (
    <div
      ref={keepReachable}
      className={classNames('overflow-auto wrap-anywhere whitespace-pre-wrap', className)}
    >
      {children}
    </div>
  );
}
