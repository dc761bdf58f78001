import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

interface FoldProps {
  title: string;
  open?: boolean;
  onToggle?: (open: boolean) => void;
  children: ReactNode;
}

/** A part of a page that is folded away until a person wants it. */
export function Fold({ title, open, onToggle, children }: FoldProps) {
  return (
    <details
      open={open}
      onToggle={(event) => onToggle?.(event.currentTarget.open)}
      className="group rounded-lg border bg-surface"
    >
      <summary className="flex h-row cursor-pointer list-none items-center justify-between rounded-lg px-3 text-sm font-medium hover:bg-hover pointer-coarse:h-11 [&::-webkit-details-marker]:hidden">
        {title}
        <Icon name="chevron-down" className="text-muted group-open:rotate-180" />
      </summary>
      <div className="border-t p-3">{children}</div>
    </details>
  );
}
