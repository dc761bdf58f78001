import { classNames } from '../../class-names.ts';
import { openWord } from '../../format/run-words.ts';

/** Statuses that have a colour; any other is grey. */
const tones: Readonly<Record<string, string>> = {
  in_progress: 'bg-running-soft text-running',
  done: 'bg-done-soft text-done',
  failed: 'bg-failed-soft text-failed',
  blocked: 'bg-attention-soft text-attention',
  canceled: 'bg-canceled-soft text-canceled line-through',
};

/** The status of a run, which is an open word, in a colour if it is a known one. */
export function RunStatus({ status }: { status: string }) {
  return (
    <span
      className={classNames(
        'inline-flex h-6 max-w-40 items-center truncate rounded-full px-2.5 text-xs font-medium',
        tones[status] ?? 'border border-line text-pending',
      )}
    >
      {openWord(status)}
    </span>
  );
}
