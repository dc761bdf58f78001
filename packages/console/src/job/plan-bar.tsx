import type { Plan } from '@signalbox/contract';
import { classNames } from '../class-names.ts';
import { progressOfPlan } from '../format/activity.ts';
import { plainText } from '../format/text.ts';
import { Icon, type IconName } from '../parts/page/icon.tsx';
import { keepReachable } from '../parts/page/scroll-box.tsx';

type Status = Plan['entries'][number]['status'];

const looks: Readonly<Record<Status, { icon: IconName; tone: string; word: string }>> = {
  completed: { icon: 'circle-check', tone: 'text-done', word: 'Done' },
  in_progress: { icon: 'circle-play', tone: 'text-accent', word: 'Now' },
  pending: { icon: 'circle', tone: 'text-faint', word: 'To do' },
};

/** The plan of the tool as it is now: one line, which opens to a checklist. */
export function PlanBar({ plan }: { plan: Plan }) {
  const { entries } = plan;
  const { done, now } = progressOfPlan(plan);
  return (
    <details className="group min-w-0 border-b bg-surface text-sm">
      <summary className="flex min-h-9 cursor-pointer list-none items-center gap-2 px-3 outline-offset-[-2px] hover:bg-hover pointer-coarse:min-h-11 [&::-webkit-details-marker]:hidden">
        <Icon name="list-todo" className="shrink-0 text-muted" />
        <span className="shrink-0 font-medium">Plan</span>
        <span className="shrink-0 text-xs text-muted tabular-nums">
          {done} of {entries.length} done
        </span>
        <span className="min-w-0 grow truncate text-xs text-muted group-open:invisible">{now}</span>
        <Icon name="chevron-down" className="shrink-0 text-muted group-open:rotate-180" />
      </summary>
      <ol
        ref={keepReachable}
        aria-label="Plan"
        className="grid max-h-[30dvh] gap-1 overflow-auto px-3 pt-1 pb-3 outline-offset-[-2px]"
      >
        {entries.map(({ text, status }, at) => {
          const look = looks[status];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two steps may have the same text.
            <li key={at} className="flex min-w-0 items-start gap-2">
              <Icon name={look.icon} className={classNames('mt-0.5 shrink-0', look.tone)} />
              <span className="sr-only">{look.word}: </span>
              <span
                className={classNames(
                  'min-w-0 wrap-anywhere',
                  status === 'completed' && 'text-muted',
                  status === 'in_progress' && 'font-medium',
                )}
              >
                {plainText(text)}
              </span>
            </li>
          );
        })}
      </ol>
    </details>
  );
}
