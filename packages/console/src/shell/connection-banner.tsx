import { bannerWords } from '../format/connection-words.ts';
import { useLiveState } from '../live/live-state.ts';
import { Icon } from '../parts/page/icon.tsx';
import { useNow } from '../parts/text/relative-time.tsx';

/**
 * Says that the connection to the hub is lost, at the lower edge of the window. The margin below
 * every page is as high, so nothing moves and nothing stays covered. The sign in the navigation
 * announces the state to screen readers, which should not hear a countdown.
 */
export function ConnectionBanner() {
  const state = useLiveState();
  const words = useNow((nowMs) => bannerWords(state, nowMs));
  if (words === null) return null;
  return (
    <p className="fixed inset-x-0 bottom-phone-bar z-5 flex h-8 items-center justify-center gap-2 border-t border-warning/40 bg-warning-soft px-3 text-sm text-warning tabular-nums md:bottom-0 md:left-(--sidebar-width)">
      <Icon name="triangle-alert" />
      <span className="truncate">
        {words}
        <span className="max-sm:hidden">. What you see may be out of date.</span>
      </span>
    </p>
  );
}
