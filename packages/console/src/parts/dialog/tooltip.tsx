import { Tooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

interface HintProps {
  text: string;
  /** The control; it must accept a ref and the props of its element. */
  children: ReactElement<Record<string, unknown>>;
}

/**
 * A short text beside a control that is hovered or has the focus. It repeats or explains the label,
 * which must say enough without it: touch screens show no tooltips.
 */
export function Hint({ text, children }: HintProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger delay={400} render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} collisionPadding={8} className="z-40">
          <Tooltip.Popup className="max-w-64 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-popup">
            {text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
