import type { Job } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { openQuestionsQuery } from '../api/job-queries.ts';
import { DecisionCard } from '../parts/record/decision-card.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';

const workspace = getRouteApi('/w/$slug');

/** The questions of a job, first on its page. One that is answered here stays, with its answer. */
export function OpenQuestions({ job }: { job: Job }) {
  const { membership } = workspace.useRouteContext();
  const { data, isPending } = useQuery(openQuestionsQuery(job.workspaceId, job.jobId));
  const [seen, setSeen] = useState<readonly string[]>([]);
  const open = data?.uncertainties.map(({ uncertaintyId }) => uncertaintyId) ?? [];
  const added = open.filter((id) => !seen.includes(id));
  if (added.length > 0) setSeen([...seen, ...added]);
  return (
    <div id="decision" className="grid scroll-mt-32 gap-4 empty:hidden">
      {isPending && job.waitingOnUncertaintyId !== null && (
        <SkeletonRows what="the question" rows={6} />
      )}
      {seen.map((uncertaintyId) => (
        <DecisionCard
          key={uncertaintyId}
          workspace={membership}
          uncertaintyId={uncertaintyId}
          isOnJobPage
        />
      ))}
    </div>
  );
}
