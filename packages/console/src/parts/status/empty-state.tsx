import type { ReactNode } from 'react';
import { Command } from '../form/copy-button.tsx';
import { GuideLink } from '../page/guide-link.tsx';
import { Icon, type IconName } from '../page/icon.tsx';

interface EmptyStateProps {
  icon: IconName;
  title: string;
  /** Explains what would be here, and how it gets here. */
  children: ReactNode;
  /** The exact next command. */
  command?: string;
  /** A button or link, where the next step is in the console. */
  action?: ReactNode;
  /** The page of the documentation that tells more. */
  guide?: `/docs/${string}`;
}

/** In place of a list that has nothing yet: what belongs here, and the exact next step. */
export function EmptyState({ icon, title, children, command, action, guide }: EmptyStateProps) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] justify-items-center gap-3 rounded-lg border border-dashed px-4 py-10 text-center">
      <span className="grid size-10 place-items-center rounded-full bg-pending-soft text-muted">
        <Icon name={icon} className="size-5" />
      </span>
      <h2 className="font-semibold">{title}</h2>
      <div className="max-w-prose text-sm text-muted">{children}</div>
      {command !== undefined && (
        <div className="w-full max-w-xl text-left">
          <Command text={command} />
        </div>
      )}
      {action}
      {guide !== undefined && <GuideLink to={guide} />}
    </section>
  );
}
