import { useEffect } from 'react';

/** Sets the title of the browser tab; screen readers announce it when the page changes. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Signalbox`;
  }, [title]);
}
