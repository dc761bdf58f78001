import { useSyncExternalStore } from 'react';

/** As the breakpoint `lg` of the styles. */
const wide = window.matchMedia('(min-width: 64rem)');

function onChange(listener: () => void): () => void {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
}

/** Whether the window has room for a list and a card beside each other. */
export function useWide(): boolean {
  return useSyncExternalStore(onChange, () => wide.matches);
}
