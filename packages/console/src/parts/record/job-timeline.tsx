import type { Job } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { EVENTS_PAGE, type JobEvents, jobEventsQuery, mergeEvents } from '../../api/job-queries.ts';
import { isFinished } from '../../format/job-words.ts';
import { Button } from '../form/button.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { ReadFailure } from '../status/read-failure.tsx';
import { SkeletonRows } from '../status/skeleton.tsx';
import { Timeline } from '../text/timeline.tsx';

interface JobTimelineProps {
  job: Job;
  nameOfAgent: (agentId: string) => string;
}

/** The timeline of a job, refreshed while more events can arrive. */
export function JobTimeline({ job, nameOfAgent }: JobTimelineProps) {
  const client = useQueryClient();
  const { workspaceId, jobId } = job;
  const query = jobEventsQuery(client, workspaceId, jobId, !isFinished(job.status));
  const read = useQuery(query);
  // The last events arrive with the change of status, when the regular refresh has stopped.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a status change triggers the refresh.
  useEffect(() => {
    void client.invalidateQueries({ queryKey: query.queryKey });
  }, [job.status, job.attempt]);

  const firstSeq = read.data?.events[0]?.seq ?? 1;
  const readEarlier = useMutation({
    mutationFn: () =>
      callHub('jobEvents', 'listForJob', {
        workspaceId,
        jobId,
        limit: EVENTS_PAGE,
        after: Math.max(0, firstSeq - 1 - EVENTS_PAGE),
      }),
    onSuccess: ({ events }) =>
      client.setQueryData<JobEvents>(
        query.queryKey,
        (known) => known && { ...known, events: mergeEvents(known.events, events) },
      ),
  });
  const [isFull, setFull] = useState(false);
  if (read.isPending) return <SkeletonRows what="the timeline" rows={6} />;
  return (
    <div className="grid min-w-0 gap-4 rounded-lg border bg-surface p-4 sm:p-5">
      <label className="flex min-h-8 w-fit cursor-pointer items-center gap-1.5 text-sm text-muted pointer-coarse:min-h-11">
        <input
          type="checkbox"
          checked={isFull}
          onChange={(event) => setFull(event.target.checked)}
          className="size-4 accent-accent-fill"
        />
        Show heartbeats, progress and output
      </label>
      <ReadFailure read={read} />
      {readEarlier.error && <ErrorNotice error={readEarlier.error} />}
      {firstSeq > 1 && (
        <Button
          className="justify-self-start"
          busy={readEarlier.isPending}
          onClick={() => readEarlier.mutate()}
        >
          Show earlier events
        </Button>
      )}
      {read.data && (
        <Timeline events={read.data.events} isFull={isFull} nameOfAgent={nameOfAgent} />
      )}
    </div>
  );
}
