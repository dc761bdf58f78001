import type { BulkAction, BulkResult, ListedJob } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeJobs } from '../api/job-bulk.ts';
import { describeBulk } from '../format/bulk-words.ts';
import { randomKey } from '../format/random-key.ts';
import { showToast } from '../parts/dialog/toast.ts';
import { ActionButton } from '../parts/form/action-button.tsx';
import { Button } from '../parts/form/button.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import type { Selection } from './use-selection.ts';

interface BulkBarProps {
  workspaceId: string;
  selection: Selection;
  /** The jobs that are shown, for what the person has seen of them. */
  jobs: readonly ListedJob[];
  disabledReason: string | undefined;
}

interface Asked {
  action: BulkAction;
  priority?: number;
}

const actionLabels = [
  { action: 'retry', label: 'Retry' },
  { action: 'release', label: 'Release' },
  { action: 'cancel', label: 'Cancel jobs' },
] as const;

const priorities = [
  { value: '100', word: 'Urgent (100)' },
  { value: '10', word: 'High (10)' },
  { value: '0', word: 'Normal (0)' },
  { value: '-10', word: 'Low (−10)' },
] as const;

/** The actions on the selected jobs, at the lower edge of the window. */
export function BulkBar({ workspaceId, selection, jobs, disabledReason }: BulkBarProps) {
  const act = useBulk(workspaceId, selection, jobs);
  // Canceling cannot be undone, so it is pressed twice.
  const [isCanceling, setCanceling] = useState(false);
  const count = selection.ids.size;
  const run = (asked: Asked) => {
    setCanceling(false);
    act.mutate({ ...asked, key: randomKey() });
  };
  return (
    <section
      aria-label="Selected jobs"
      className="sticky bottom-[calc(var(--spacing-phone-bar)+2.5rem)] z-5 grid gap-2 rounded-xl border bg-raised p-2 shadow-popup md:bottom-10"
    >
      {act.error && <ErrorNotice error={act.error} />}
      <div className="flex flex-wrap items-center gap-2">
        <p role="status" className="px-2 text-sm font-medium tabular-nums">
          {count.toLocaleString('en')} selected
        </p>
        {isCanceling ? (
          <>
            <span className="text-sm text-muted">A canceled job stays canceled.</span>
            <Button autoFocus look="danger" onClick={() => run({ action: 'cancel' })}>
              Cancel {count === 1 ? 'this job' : `these ${count} jobs`}
            </Button>
            <Button onClick={() => setCanceling(false)}>Keep them</Button>
          </>
        ) : (
          <>
            {actionLabels.map(({ action, label }) => (
              <ActionButton
                key={action}
                busy={act.isPending && act.variables.action === action}
                disabled={count === 0 || act.isPending}
                disabledReason={disabledReason}
                onClick={() => (action === 'cancel' ? setCanceling(true) : run({ action }))}
              >
                {label}
              </ActionButton>
            ))}
            <select
              aria-label="Set priority"
              value=""
              disabled={count === 0 || act.isPending || disabledReason !== undefined}
              title={disabledReason}
              onChange={(event) =>
                run({ action: 'set_priority', priority: Number(event.target.value) })
              }
              className="h-8 rounded-md border border-control/60 bg-surface px-2 text-sm font-medium hover:bg-hover disabled:opacity-60 pointer-coarse:h-11"
            >
              <option value="" disabled>
                Priority …
              </option>
              {priorities.map(({ value, word }) => (
                <option key={value} value={value}>
                  {word}
                </option>
              ))}
            </select>
          </>
        )}
        <span className="ml-auto flex gap-1">
          <Button look="quiet" onClick={selection.selectAll}>
            Select all shown
          </Button>
          <Button look="quiet" onClick={selection.clear}>
            Clear
          </Button>
        </span>
      </div>
    </section>
  );
}

function useBulk(workspaceId: string, selection: Selection, jobs: readonly ListedJob[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key, ...asked }: Asked & { key: string }): Promise<BulkResult[]> => {
      const attempts = new Map(jobs.map((job) => [job.jobId, job.attempt]));
      const chosen = [...selection.ids].map((jobId) => ({ jobId, attempt: attempts.get(jobId) }));
      return changeJobs(workspaceId, asked, chosen, key);
    },
    onSuccess: (results, { action }) => {
      const refused = results.filter(({ result }) => result === 'refused');
      showToast({ ...describeBulk(action, results), ...(refused.length > 0 && { tone: 'bad' }) });
      selection.clear();
    },
    onSettled: () =>
      Promise.all(
        ['jobs', 'job-page', 'job-counts', 'job'].map((name) =>
          client.invalidateQueries({ queryKey: [name, workspaceId] }),
        ),
      ),
  });
}
