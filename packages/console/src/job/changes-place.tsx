import type { ChangesPlace, Job } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callHub } from '../api/hub-call.ts';
import { commandName } from '../format/command-name.ts';
import { readEvidence } from '../format/evidence.ts';
import { plainText } from '../format/text.ts';
import { ActionButton, viewerReason } from '../parts/form/action-button.tsx';
import { Command } from '../parts/form/copy-button.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

interface ChangesElsewhereProps {
  job: Job;
  role: string;
  /** Absent: an older hub, or an agent that is not known any more. */
  place: ChangesPlace | undefined;
  /** Why the hub has no patch, if there was one. */
  children?: ReactNode;
}

/** Where the changes of a job are, and the two ways to them. */
export function ChangesElsewhere({ job, role, place, children }: ChangesElsewhereProps) {
  const { branch } = readEvidence(job.evidence ?? {});
  const name = place && plainText(place.agent.displayName);
  const isWaiting = place?.request?.answeredAt === null;
  return (
    <section
      aria-labelledby="changes-place"
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border bg-surface p-4 sm:p-5"
    >
      <h2 id="changes-place" className="font-semibold wrap-anywhere">
        The changes are on {name || 'the machine of the agent'}
      </h2>
      {children !== undefined && <p className="text-muted">{children}</p>}
      {place?.request && <RequestState place={place} />}
      <ol className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
        {!isWaiting && (
          <li className="grid min-w-0 gap-2">
            {place?.onRequest ? (
              <Ask {...{ job, role, name }} isAgain={place.request !== null} />
            ) : (
              <p className="text-muted">
                To see them here and comment on them, the person who runs the agent sets{' '}
                <code className="font-mono text-xs">share.changes</code> to{' '}
                <code className="font-mono text-xs">on-request</code>, or to{' '}
                <code className="font-mono text-xs">patch</code> for all jobs, in its configuration.
                Then you can ask for them.
              </p>
            )}
          </li>
        )}
        <li className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
          <p className="wrap-anywhere text-muted">
            Where the clone is
            {branch !== undefined && (
              <>
                , on the branch <code className="font-mono text-xs">{plainText(branch)}</code>
              </>
            )}
            , these commands show them, and send comments on them:
          </p>
          <Command text={`${commandName()} job diff ${job.jobId}`} />
          <Command text={`${commandName()} review ${job.jobId}`} />
        </li>
      </ol>
    </section>
  );
}

interface AskProps {
  job: Job;
  role: string;
  name: string | undefined;
  isAgain: boolean;
}

function Ask({ job: { workspaceId, jobId }, role, name, isAgain }: AskProps) {
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: () => callHub('jobs', 'requestPatch', { workspaceId, jobId }),
    // After a refusal, the choice of the agent may have changed.
    onSettled: () => client.invalidateQueries({ queryKey: ['job', workspaceId, jobId] }),
  });
  return (
    <>
      <ActionButton
        look="primary"
        className="justify-self-start"
        busy={ask.isPending}
        disabledReason={viewerReason(role)}
        onClick={() => ask.mutate()}
      >
        {isAgain ? 'Ask again' : 'Ask for the changes'}
      </ActionButton>
      <p className="text-muted">
        {name || 'The agent'} sends the patch of this job, without the secrets that it knows. The
        person who runs it sees who has asked, and all members of the workspace see the patch.
      </p>
      {ask.error && <ErrorNotice error={ask.error} />}
    </>
  );
}

/** Who has asked, and what came of it. */
export function RequestState({ place: { agent, request } }: { place: ChangesPlace }) {
  if (request === null) return null;
  const { askedBy, askedAt, answeredAt, refusal } = request;
  const name = plainText(agent.displayName) || agent.agentId;
  return (
    <p role="status" className="min-w-0 wrap-anywhere text-muted">
      {plainText(askedBy.name ?? askedBy.id)} asked for the changes <RelativeTime at={askedAt} />.{' '}
      {answeredAt === null && agent.status !== 'offline' && `${name} sends them in a moment.`}
      {answeredAt === null && agent.status === 'offline' && (
        <>
          This waits for {name}, last seen <RelativeTime at={agent.lastSeenAt} />.
        </>
      )}
      {refusal !== null && `Not shared: ${plainText(refusal)}`}
    </p>
  );
}
