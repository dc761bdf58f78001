import { Monitor, Moon, Sun } from 'lucide-react';
import { useState } from 'react';
import { readTheme, themes, writeTheme } from './theme.ts';

const looks = {
  system: { icon: Monitor, word: 'Theme: system' },
  light: { icon: Sun, word: 'Theme: light' },
  dark: { icon: Moon, word: 'Theme: dark' },
} as const;

/** Cycles through system, light and dark, on pages that have no account menu. */
export function ThemeToggle() {
  const [theme, setTheme] = useState(readTheme);
  const { icon: Sign, word } = looks[theme];
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
      <Sign />
    </button>
  );
}
