import { useEffect } from 'react';

/** Names the browser tab; screen readers read it when the page changes. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Signalbox`;
  }, [title]);
}
