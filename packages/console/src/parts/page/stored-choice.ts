/**
 * Stores a choice of this browser's person for the next visit; `public/first-paint.js` applies the
 * choices before the first paint. Where storage is disabled, a choice lasts until the page closes.
 */
export function storeChoice(name: 'theme' | 'sidebar', value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`signalbox.${name}`);
    else localStorage.setItem(`signalbox.${name}`, value);
  } catch {
    // Storage is disabled.
  }
}
