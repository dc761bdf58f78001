import { classNames } from '../class-names.ts';
import type { LiveState } from '../live/live-source.ts';
import { useLiveState } from '../live/live-state.ts';
import { useNow } from '../parts/relative-time.tsx';

const OFFLINE_AFTER_MS = 10_000;

/** "live", "reconnecting in 4 s" or "offline since 14:02". */
export function ConnectionSign() {
  const state = useLiveState();
  const words = useNow((nowMs) => wordsOf(state, nowMs));
  return (
    <span
      role="status"
      title={words}
      className="flex min-h-6 min-w-0 items-center gap-2 px-2 text-xs text-muted"
    >
      <span
        aria-hidden="true"
        className={classNames(
          'size-2 shrink-0 rounded-full',
          state.kind === 'live' ? 'bg-done' : 'border border-warning',
        )}
      />
      <span className="truncate narrow:sr-only">{words}</span>
    </span>
  );
}

export function wordsOf(state: LiveState, nowMs: number): string {
  if (state.kind === 'live') return 'live';
  if (state.kind === 'connecting') return 'connecting';
  if (nowMs - state.sinceMs >= OFFLINE_AFTER_MS) {
    const since = new Date(state.sinceMs);
    const time = since.toLocaleTimeString('en', {
      hour: '2-digit',
      minute: '2-digit',
      hour12: false,
    });
    return `offline since ${time}`;
  }
  return `reconnecting in ${Math.max(1, Math.ceil((state.retryAtMs - nowMs) / 1_000))} s`;
}
