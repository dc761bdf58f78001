import { randomKey } from '../format/random-key.ts';
import { emptyDraft, type JobDraft } from './job-draft.ts';

/** A draft that survives a reload, and the key under which it was sent, if it was. */
export interface StoredDraft {
  draft: JobDraft;
  sent: { body: string; key: string } | null;
}

const nameOf = (workspaceId: string) => `signalbox.draft.${workspaceId}`;

/** The draft of this browser for a workspace, or null. */
export function readStoredDraft(workspaceId: string): StoredDraft | null {
  try {
    const text = localStorage.getItem(nameOf(workspaceId));
    if (text === null) return null;
    const stored = JSON.parse(text) as Partial<StoredDraft>;
    // A draft of another version may lack fields.
    return { draft: { ...emptyDraft, ...stored.draft }, sent: stored.sent ?? null };
  } catch {
    // Storage is disabled, or another program has written there: the form starts empty.
    return null;
  }
}

export function storeDraft(workspaceId: string, stored: StoredDraft | null): void {
  try {
    if (stored === null) localStorage.removeItem(nameOf(workspaceId));
    else localStorage.setItem(nameOf(workspaceId), JSON.stringify(stored));
  } catch {
    // Storage is disabled or full: the draft lasts until the page closes.
  }
}

/**
 * The key of a request: the same one as long as the request is the same, so that a second press, or
 * a press after a lost answer or a reload, enqueues nothing twice.
 */
export function keyFor(sent: StoredDraft['sent'], body: string): string {
  return sent?.body === body ? sent.key : randomKey();
}
