import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { callHub } from '../../api/hub-call.ts';
import { pausesQuery } from '../../api/job-queries.ts';
import { PauseBanners } from '../../job-list/pause-banner.tsx';
import { showToast } from '../dialog/toast.ts';
import { viewerReason } from '../form/action-button.tsx';
import { ReasonButton } from '../form/reason-button.tsx';
import { useRepositoryLabels } from '../record/repository-labels.ts';
import { Records, Section } from './section.tsx';

const workspace = getRouteApi('/w/$slug');

/** Pauses the queue of the whole workspace, and lists what is paused. */
export function QueueSection() {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, role } = membership;
  const client = useQueryClient();
  const query = useQuery(pausesQuery(workspaceId));
  const pauses = query.data?.pauses ?? [];
  const repoIds = pauses.flatMap(({ repoId }) => repoId ?? []);
  const labels = useRepositoryLabels(workspaceId, repoIds);
  const disabledReason = viewerReason(role);
  const pause = async (reason: string | undefined) => {
    await callHub('queue', 'pause', { workspaceId, ...(reason !== undefined && { reason }) });
    await client.invalidateQueries(pausesQuery(workspaceId));
    showToast({ title: 'The queue is paused' });
  };
  const isPaused = pauses.some(({ repoId }) => repoId === null);
  return (
    <Section
      title="Queue"
      description="While it is paused, agents get no new jobs. Running jobs continue."
      action={
        query.data !== undefined &&
        !isPaused && (
          <ReasonButton
            label="Pause the queue"
            title="Pause the queue of this workspace?"
            description="No job of any repository is handed out until somebody resumes it. Running jobs continue, and new ones can be enqueued."
            asksReason
            disabledReason={disabledReason}
            onConfirm={pause}
          />
        )
      }
    >
      <Records what="the queue" query={query}>
        {() =>
          pauses.length === 0 ? (
            <p className="text-sm text-muted">Nothing is paused.</p>
          ) : (
            <PauseBanners
              workspaceId={workspaceId}
              labels={labels}
              disabledReason={disabledReason}
            />
          )
        }
      </Records>
    </Section>
  );
}
