/** A key of a page, or two keys in a row such as `g i`. */
export interface KeyAction {
  /**
   * `KeyboardEvent.key` of each key, separated by a space. `mod+k` is ⌘K on a Mac and Ctrl+K
   * elsewhere; other keys count only without Ctrl, ⌘ and Alt.
   */
  keys: string;
  /** The sentence that `?` lists. */
  label: string;
  /** The heading in the list of keys. */
  group: string;
  act: () => void;
}

/** How long the second key of a pair may take. */
const PAIR_MS_MAX = 1_500;

const actions = new Set<KeyAction>();
let firstKey: string | undefined;
let firstKeyAtMs = 0;

/** Adds keys until the returned function is called. A key added later wins over an earlier one. */
export function registerKeys(added: readonly KeyAction[]): () => void {
  for (const action of added) actions.add(action);
  return () => {
    for (const action of added) actions.delete(action);
  };
}

/** The keys that work now, one per key, in the order in which they were added. */
export function activeKeys(): readonly KeyAction[] {
  return [...new Map([...actions].map((action) => [action.keys, action])).values()];
}

/** Where letters are text, or where a part of the page handles its keys itself. */
const typingPlaces = [
  ...['input:not([type=radio], [type=checkbox])', 'textarea', 'select'],
  ...['[contenteditable="true"]', '[role=menu]', '[role=listbox]'],
  ...['[role=dialog]', '[role=alertdialog]'],
].join(', ');

/** Runs the action of a key. Wired once, in the shell. */
export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.repeat) return;
  const isMod = event.metaKey || event.ctrlKey;
  if (event.altKey) return;
  const key = isMod ? `mod+${event.key.toLowerCase()}` : event.key;
  // A combination is no text, so it works everywhere but in a field that uses it itself.
  if (!isMod && event.target instanceof Element && event.target.closest(typingPlaces)) return;
  const pair = firstKey === undefined ? undefined : `${firstKey} ${key}`;
  const isInTime = event.timeStamp - firstKeyAtMs <= PAIR_MS_MAX;
  firstKey = undefined;
  const known = activeKeys();
  const found =
    known.find(({ keys }) => isInTime && keys === pair) ?? known.find(({ keys }) => keys === key);
  if (found) {
    event.preventDefault();
    found.act();
  } else if (known.some(({ keys }) => keys.startsWith(`${key} `))) {
    firstKey = key;
    firstKeyAtMs = event.timeStamp;
  }
}
