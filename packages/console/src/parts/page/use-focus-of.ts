import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Moves the focus to the current row of a list when a key has made it current, and brings it into
 * view.
 *
 * @param selector of the row's control, of several the last; undefined: no row is current.
 */
export function useFocusOf(
  listRef: RefObject<HTMLElement | null>,
  selector: string | undefined,
  scroll: () => void,
): void {
  const latestScroll = useRef(scroll);
  useLayoutEffect(() => {
    latestScroll.current = scroll;
  });
  useLayoutEffect(() => {
    if (selector === undefined) return;
    const stop = [...(listRef.current?.querySelectorAll<HTMLElement>(selector) ?? [])].at(-1);
    if (!stop || stop === document.activeElement) return;
    latestScroll.current();
    stop.focus({ preventScroll: true });
  }, [listRef, selector]);
}
