const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

const signs: Readonly<Record<string, string>> = {
  mod: isMac ? '⌘' : 'Ctrl',
  Enter: '↵',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
};

/** The keys of an action, for instance `g i` or `mod+k`, as a person reads them on the keyboard. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className="inline-flex shrink-0 gap-1">
      {keys.split(/[ +]/).map((key) => (
        <kbd
          key={key}
          className="grid h-5 min-w-5 place-items-center rounded border bg-well px-1 font-sans text-xs text-muted"
        >
          {signs[key] ?? (key.length === 1 && keys.includes('mod+') ? key.toUpperCase() : key)}
        </kbd>
      ))}
    </span>
  );
}
