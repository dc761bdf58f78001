import type { Job } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { jobEventsQuery } from '../api/job-queries.ts';
import { Icon } from '../parts/page/icon.tsx';
import { LinkedText } from '../parts/text/linked-text.tsx';

/** Why a job was canceled, as its timeline says. */
export function CanceledNote({ job }: { job: Job }) {
  const client = useQueryClient();
  const { data } = useQuery(jobEventsQuery(client, job.workspaceId, job.jobId, false));
  const reason = data?.events.findLast(({ kind }) => kind === 'canceled')?.message;
  return (
    <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1.5 rounded-lg border bg-surface p-4 text-sm sm:p-5">
      <h2 className="flex items-center gap-2 font-semibold text-muted">
        <Icon name="ban" />
        The job was canceled
      </h2>
      {reason && (
        <p className="wrap-anywhere">
          <LinkedText text={reason} />
        </p>
      )}
    </section>
  );
}
