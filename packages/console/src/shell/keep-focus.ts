/**
 * Keeps the focus where a person works. When the element that has it disappears or is disabled, a
 * browser forgets the place and Tab begins at the top of the page. The nearest element around it
 * gets the focus instead, so that Tab continues there; one that is enabled again gets it back.
 *
 * @returns a function that ends it.
 */
export function keepFocus(fallback: HTMLElement): () => void {
  /** The element that had the focus last, and those around it, the nearest first. */
  let last: HTMLElement | null = null;
  let around: HTMLElement[] = [];
  let standIn: HTMLElement | null = null;

  const isGone = (element: HTMLElement) => !element.isConnected || element.matches(':disabled');
  const onFocusIn = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || target === standIn) return;
    last = target;
    around = [];
    for (let at = target.parentElement; at !== null; at = at.parentElement) around.push(at);
  };
  const onFocusOut = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null) return;
    // Removal and disabling are complete by the next frame. Otherwise the person left it.
    requestAnimationFrame(() => {
      if (last === target && last !== null && !isGone(last) && !hasFocus()) last = null;
    });
  };
  const hasFocus = () =>
    document.activeElement !== null && document.activeElement !== document.body;
  const mend = () => {
    if (last === null || (hasFocus() && document.activeElement !== standIn)) return;
    if (!isGone(last)) {
      if (standIn !== null) last.focus({ preventScroll: true });
      standIn = null;
      return;
    }
    if (standIn?.isConnected && hasFocus()) return;
    const isInside = (element: HTMLElement) => element.isConnected && fallback.contains(element);
    standIn = around.find(isInside) ?? fallback;
    if (!standIn.hasAttribute('tabindex')) standIn.tabIndex = -1;
    standIn.focus({ preventScroll: true });
  };

  const observer = new MutationObserver(() => requestAnimationFrame(mend));
  const changes = { childList: true, subtree: true, attributeFilter: ['disabled'] };
  observer.observe(document.body, changes);
  document.addEventListener('focusin', onFocusIn);
  document.addEventListener('focusout', onFocusOut);
  return () => {
    observer.disconnect();
    document.removeEventListener('focusin', onFocusIn);
    document.removeEventListener('focusout', onFocusOut);
  };
}
