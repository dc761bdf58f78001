import type { QueuePause } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../api/hub-call.ts';
import { pausesQuery } from '../api/job-queries.ts';
import { plainText } from '../format/text.ts';
import { ActionButton } from '../parts/form/action-button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

interface PauseBannersProps {
  workspaceId: string;
  labels: ReadonlyMap<string, string>;
  /** Shows only the pauses that concern this repository. */
  repoId?: string | undefined;
  disabledReason: string | undefined;
}

/** The pauses: who paused the queue, since when, why, and the way to resume it. */
export function PauseBanners({ workspaceId, labels, repoId, disabledReason }: PauseBannersProps) {
  const { data } = useQuery(pausesQuery(workspaceId));
  const shown = (data?.pauses ?? []).filter(
    (pause) => repoId === undefined || pause.repoId === null || pause.repoId === repoId,
  );
  if (shown.length === 0) return null;
  return (
    <ul className="grid gap-2">
      {shown.map((pause) => (
        <li key={pause.repoId ?? ''}>
          <PauseBanner
            workspaceId={workspaceId}
            pause={pause}
            label={pause.repoId === null ? null : (labels.get(pause.repoId) ?? pause.repoId)}
            disabledReason={disabledReason}
          />
        </li>
      ))}
    </ul>
  );
}

interface PauseBannerProps {
  workspaceId: string;
  pause: QueuePause;
  /** The repository; null for the whole workspace. */
  label: string | null;
  disabledReason: string | undefined;
}

function PauseBanner({ workspaceId, pause, label, disabledReason }: PauseBannerProps) {
  const client = useQueryClient();
  const { repoId } = pause;
  const resume = useMutation({
    mutationFn: () =>
      callHub('queue', 'resume', { workspaceId, ...(repoId !== null && { repoId }) }),
    onSettled: () =>
      Promise.all(
        ['pauses', 'jobs'].map((name) =>
          client.invalidateQueries({ queryKey: [name, workspaceId] }),
        ),
      ),
  });
  const what = label === null ? 'The queue' : `The queue of ${plainText(label)}`;
  return (
    <div className="grid gap-2 rounded-lg border border-l-3 border-l-warning bg-warning-soft px-3 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Icon name="circle-pause" className="shrink-0 text-warning" />
        <p className="min-w-0 grow basis-60 wrap-anywhere">
          <strong className="font-semibold">{what} is paused.</strong> No new job is started;
          running jobs continue. Paused <RelativeTime at={pause.pausedAt} />
          {pause.pausedBy !== null && ` by ${plainText(pause.pausedBy)}`}
          {pause.reason ? `: ${plainText(pause.reason)}` : '.'}
        </p>
        <ActionButton
          busy={resume.isPending}
          disabledReason={disabledReason}
          onClick={() => resume.mutate()}
        >
          Resume
        </ActionButton>
      </div>
      {resume.error && <ErrorNotice error={resume.error} />}
    </div>
  );
}
