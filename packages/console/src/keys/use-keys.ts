import { useLayoutEffect, useRef } from 'react';
import { type KeyAction, registerKeys } from './key-registry.ts';

/**
 * The keys of a page or part while it is shown. They are inactive while a person types, and in
 * menus and dialogs. `?` lists them. The actions may change with each render; which keys there are
 * may change too.
 */
export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions);
  // Before the part is painted: a key that is pressed when it is seen is not lost.
  useLayoutEffect(() => {
    latest.current = actions;
  });
  const shape = JSON.stringify(actions.map(({ keys, label, group }) => ({ keys, label, group })));
  useLayoutEffect(() => {
    const added: Omit<KeyAction, 'act'>[] = JSON.parse(shape);
    return registerKeys(
      added.map((action) => ({
        ...action,
        act: () => latest.current.find(({ keys }) => keys === action.keys)?.act(),
      })),
    );
  }, [shape]);
}
