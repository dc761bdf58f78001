/** A short message at the lower edge. */
export interface ToastText {
  title: string;
  /** A second line. */
  detail?: string;
  /** Takes back what the message reports; called at most once, while the message is shown. */
  undo?: () => void;
  tone?: 'plain' | 'bad';
}

/** How long a message stays; one that can be undone, likewise. */
export const TOAST_MS = 5_000;

const waiting: ToastText[] = [];
const listeners = new Set<() => void>();
let wasUsed = false;

/** Shows a message. A failed call is shown next to what failed, not in a message that goes away. */
export function showToast(toast: ToastText): void {
  waiting.push(toast);
  wasUsed = true;
  for (const each of listeners) each();
}

/** Takes the messages that are not shown yet. */
export function takeToasts(): ToastText[] {
  return waiting.splice(0);
}

export function onToast(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether any message was shown, so that the code that draws them is needed. */
export function hasToasts(): boolean {
  return wasUsed;
}
