import type { ReactNode } from 'react';
import { Button } from '../form/button.tsx';
import { Command } from '../form/copy-button.tsx';

interface ShownOnceProps {
  title: string;
  /** The secret or link; the hub keeps only its hash. */
  text: string;
  children: ReactNode;
  onDone: () => void;
}

/** A secret that the hub shows once, until the person has copied it. */
export function ShownOnce({ title, text, children, onDone }: ShownOnceProps) {
  return (
    <div
      role="status"
      className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-l-[3px] border-l-attention bg-surface p-4"
    >
      <h3 className="text-sm font-semibold">{title}</h3>
      <Command text={text} />
      <p className="text-sm text-muted">{children}</p>
      <Button className="justify-self-start" onClick={onDone}>
        I have copied it
      </Button>
    </div>
  );
}
