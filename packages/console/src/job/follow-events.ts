import {
  type KeyboardEvent,
  type PointerEvent,
  type UIEvent,
  useRef,
  type WheelEvent,
} from 'react';

/** Distance from the end that still counts as the end. */
const END_PX = 24;
const keysUp = new Set(['ArrowUp', 'PageUp', 'Home']);

interface FollowOptions {
  /** The person scrolls up. */
  onLeave: () => void;
  /** The person has scrolled down to the end. */
  onEnd: () => void;
}

/** Event handlers of a box that follows its end until a person scrolls up. */
export function useFollowEvents({ onLeave, onEnd }: FollowOptions) {
  const topPx = useRef(0);
  return {
    onWheel: ({ deltaY }: WheelEvent) => deltaY < 0 && onLeave(),
    onTouchMove: onLeave,
    // The scroll bar; lines are elements of their own.
    onPointerDown: ({ target, currentTarget }: PointerEvent) =>
      target === currentTarget && onLeave(),
    onKeyDown: ({ key, shiftKey }: KeyboardEvent) =>
      (keysUp.has(key) || (key === ' ' && shiftKey)) && onLeave(),
    onScroll: ({ currentTarget: box }: UIEvent) => {
      // The first frames of a smooth scroll up are near the end, too.
      const isDown = box.scrollTop > topPx.current;
      topPx.current = box.scrollTop;
      if (isDown && box.scrollHeight - box.scrollTop - box.clientHeight < END_PX) onEnd();
    },
  };
}
