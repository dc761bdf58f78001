import { useEffect } from 'react';

let shown = '';
let count: string | null = null;

function writeTitle(): void {
  document.title = `${count === null ? '' : `(${count}) `}${shown} · Signalbox`;
}

/** Sets the title of the browser tab; screen readers announce it when the page changes. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    shown = title;
    writeTitle();
  }, [title]);
}

/** Puts the number of open questions before the title; null: none. */
export function setTitleCount(next: string | null): void {
  count = next;
  if (shown !== '') writeTitle();
}
