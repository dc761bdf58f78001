import { classNames } from '../class-names.ts';
import { signWords } from '../format/connection-words.ts';
import { useLiveState } from '../live/live-state.ts';
import { useNow } from '../parts/text/relative-time.tsx';

/** Shows "live", "reconnecting" or "offline since 14:02"; where there is no room, only the sign. */
export function ConnectionSign({ isSmall = false }: { isSmall?: boolean }) {
  const state = useLiveState();
  const words = useNow((nowMs) => signWords(state, nowMs));
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
      <span className={isSmall ? 'sr-only' : 'truncate narrow:sr-only'}>{words}</span>
    </span>
  );
}
