import { useState } from 'react';
import { Icon } from './icon.tsx';

const STORAGE_KEY = 'signalbox.theme';
const order = ['system', 'light', 'dark'] as const;
type Theme = (typeof order)[number];

const looks = {
  system: { icon: 'monitor', word: 'Theme: system' },
  light: { icon: 'sun', word: 'Theme: light' },
  dark: { icon: 'moon', word: 'Theme: dark' },
} as const;

function readTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

/** Applies the theme, and stores it for the next visit if storage is allowed. */
function writeTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === 'system') localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // Storage is disabled: the choice applies until the page is closed.
  }
}

/**
 * Cycles through system, light and dark. `theme.js` applies the stored choice before first paint.
 */
export function ThemeToggle() {
  const [theme, setTheme] = useState(readTheme);
  const { icon, word } = looks[theme];
  const step = () => {
    const next = order[(order.indexOf(theme) + 1) % order.length] ?? 'system';
    writeTheme(next);
    setTheme(next);
  };
  return (
    <button
      type="button"
      onClick={step}
      aria-label={`${word}. Change theme`}
      title={word}
      className="grid size-8 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11"
    >
      <Icon name={icon} />
    </button>
  );
}
