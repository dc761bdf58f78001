import type { ReactNode } from 'react';
import { classNames } from '../../class-names.ts';
import { Icon, type IconName } from '../page/icon.tsx';

const tones = {
  good: 'bg-done-soft text-done',
  bad: 'bg-failed-soft text-failed',
  neutral: 'bg-pending-soft text-pending',
  attention: 'bg-warning-soft text-warning',
} as const;

/** An end state of a page: icon, heading, explanation and next step. */
export function EndState({
  icon,
  tone,
  title,
  children,
}: {
  icon: IconName;
  tone: keyof typeof tones;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div role="status" className="grid justify-items-center gap-3 py-2 text-center">
      <span className={classNames('grid size-11 place-items-center rounded-full', tones[tone])}>
        <Icon name={icon} className="size-5" />
      </span>
      <h1 className="text-lg font-semibold">{title}</h1>
      <div className="grid gap-3 text-sm text-muted">{children}</div>
    </div>
  );
}
