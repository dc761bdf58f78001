import { useState } from 'react';
import { Icon } from '../page/icon.tsx';
import { readTheme, themes, writeTheme } from '../page/theme.ts';

const looks = {
  system: { icon: 'monitor', word: 'Theme: system' },
  light: { icon: 'sun', word: 'Theme: light' },
  dark: { icon: 'moon', word: 'Theme: dark' },
} as const;

/** Cycles through system, light and dark, on pages that have no account menu. */
export function ThemeToggle() {
  const [theme, setTheme] = useState(readTheme);
  const { icon, word } = looks[theme];
  const step = () => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
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
