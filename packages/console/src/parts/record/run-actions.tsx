import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { RunOverview } from '../../api/fleet-queries.ts';
import { callHub } from '../../api/hub-call.ts';
import { isClosedRun, unfinishedJobs } from '../../format/run-words.ts';
import { showToast } from '../dialog/toast.ts';
import { viewerReason } from '../form/action-button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';

const workspace = getRouteApi('/w/$slug');

/** The ways to close a run, and to open a closed one again. */
export function RunActions({ overview }: { overview: RunOverview }) {
  const { run } = overview;
  const { membership } = workspace.useRouteContext();
  const { workspaceId, role } = membership;
  const client = useQueryClient();
  const disabledReason = viewerReason(role);
  const set = async (status: string, title: string) => {
    await callHub('runs', 'upsertV2', { workspaceId, runId: run.runId, status });
    await client.invalidateQueries({ queryKey: ['runs', workspaceId] });
    showToast({ title });
  };
  if (isClosedRun(run.status)) {
    return (
      <ConfirmButton
        label="Reopen"
        title="Reopen the run?"
        confirmLook="primary"
        disabledReason={disabledReason}
        onConfirm={() => set('in_progress', 'The run is in progress')}
      >
        <p>Its status is “In progress” again. Its jobs do not change.</p>
      </ConfirmButton>
    );
  }
  return (
    <div className="flex flex-wrap items-start gap-2">
      <ConfirmButton
        label="Mark as done"
        title="Mark the run as done?"
        confirmLook="primary"
        disabledReason={disabledReason}
        onConfirm={() => set('done', 'The run is done')}
      >
        <Unfinished overview={overview} />
      </ConfirmButton>
      <ConfirmButton
        label="Cancel run"
        title="Cancel the run?"
        look="quiet"
        disabledReason={disabledReason}
        onConfirm={() => set('canceled', 'The run is canceled')}
      >
        <Unfinished overview={overview} />
      </ConfirmButton>
    </div>
  );
}

/** The jobs that continue after the run is closed. */
function Unfinished({ overview: { run, jobCounts } }: { overview: RunOverview }) {
  const { membership } = workspace.useRouteContext();
  const count = unfinishedJobs(jobCounts);
  if (count === 0) return <p>All its jobs have ended. You can reopen it.</p>;
  return (
    <p>
      {count === 1 ? 'One of its jobs has' : `${count.toLocaleString('en')} of its jobs have`} not
      ended and will continue.{' '}
      <Link
        to="/w/$slug/jobs"
        params={{ slug: membership.slug }}
        search={{ run: run.runId }}
        className="text-accent underline underline-offset-2"
      >
        See the jobs of the run
      </Link>{' '}
      to cancel them.
    </p>
  );
}
