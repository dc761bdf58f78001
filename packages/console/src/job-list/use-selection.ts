import { useCallback, useLayoutEffect, useRef, useState } from 'react';

/** The selected rows of a list, by their IDs. */
export interface Selection {
  ids: ReadonlySet<string>;
  /** Whether a person selects rows now. */
  isSelecting: boolean;
  /** Adds or removes a row; with a range, also the rows between it and the last one. */
  toggle: (id: string, isRange: boolean) => void;
  /** Shows the boxes of all rows. */
  begin: () => void;
  selectAll: () => void;
  clear: () => void;
}

/** @param order the IDs of the rows as they are shown. */
export function useSelection(order: readonly string[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [isBegun, setBegun] = useState(false);
  const latest = useRef({ order, last: undefined as string | undefined });
  useLayoutEffect(() => {
    latest.current.order = order;
  });
  // The same functions at every render, so that rows that are as they were are not drawn again.
  const toggle = useCallback((id: string, isRange: boolean) => {
    const { last } = latest.current;
    const range = isRange ? between(latest.current.order, last, id) : [id];
    latest.current.last = id;
    setIds((before) => {
      const next = new Set(before);
      const isAdded = isRange || !before.has(id);
      for (const each of range) {
        if (isAdded) next.add(each);
        else next.delete(each);
      }
      return next;
    });
  }, []);
  const clear = useCallback(() => {
    setIds(new Set());
    setBegun(false);
  }, []);
  return {
    ids,
    isSelecting: isBegun || ids.size > 0,
    toggle,
    begin: () => setBegun(true),
    selectAll: () => setIds(new Set(order)),
    clear,
  };
}

function between(
  order: readonly string[],
  from: string | undefined,
  to: string,
): readonly string[] {
  const start = from === undefined ? -1 : order.indexOf(from);
  const end = order.indexOf(to);
  if (start < 0 || end < 0) return [to];
  return order.slice(Math.min(start, end), Math.max(start, end) + 1);
}
