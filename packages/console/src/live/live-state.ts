import { useSyncExternalStore } from 'react';
import type { LiveState } from './live-source.ts';

let state: LiveState = { kind: 'connecting' };
const listeners = new Set<() => void>();

/** Called by the one connection of this page. */
export function setLiveState(next: LiveState): void {
  state = next;
  for (const listener of listeners) listener();
}

/** Finds what no change announces, such as an agent that falls silent. */
const LIVE_POLL_MS = 30_000;

/** For `refetchInterval`: polls often only while the stream of changes is not connected. */
export function unlessLive(ms: number): () => number {
  return () => (state.kind === 'live' ? LIVE_POLL_MS : ms);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}
