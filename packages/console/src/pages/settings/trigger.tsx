import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import {
  firingsQuery,
  type Trigger,
  triggerQuery,
  triggersQuery,
} from '../../api/trigger-queries.ts';
import { plainText } from '../../format/text.ts';
import { causeWords, firingWords } from '../../format/trigger-words.ts';
import { showToast } from '../../parts/dialog/toast.ts';
import { ActionButton, adminReason } from '../../parts/form/action-button.tsx';
import { ConfirmButton } from '../../parts/form/confirm-button.tsx';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { Facts } from '../../parts/record/facts.tsx';
import { JobLink, RepositoryLink } from '../../parts/record/record-links.tsx';
import { useRepositoryLabels } from '../../parts/record/repository-labels.ts';
import { Mark, RecordRows, Records, Row, Section, Sheet } from '../../parts/settings/section.tsx';
import { RelativeTime } from '../../parts/text/relative-time.tsx';
import { TriggerForm } from '../../trigger/trigger-form.tsx';
import { TriggerTest } from '../../trigger/trigger-test.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/settings/triggers/$triggerId');

/** One trigger: what it does, what it did, and what it would do. */
export function TriggerPage() {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const { triggerId } = route.useParams();
  const query = useQuery(triggerQuery(workspaceId, triggerId));
  usePageTitle(`Trigger · ${membership.name}`);
  return (
    <>
      <Link
        to="/w/$slug/settings/triggers"
        params={{ slug }}
        className="-mb-6 inline-flex h-8 items-center justify-self-start rounded-md text-sm text-muted hover:text-ink pointer-coarse:h-11"
      >
        All triggers
      </Link>
      <Records what="the trigger" query={query}>
        {({ trigger }) => (
          <>
            <TriggerSection trigger={trigger} />
            {trigger.type === 'event' && (
              <TriggerTest workspaceId={workspaceId} slug={slug} triggerId={triggerId} />
            )}
            <Firings workspaceId={workspaceId} slug={slug} triggerId={triggerId} />
          </>
        )}
      </Records>
    </>
  );
}

function TriggerSection({ trigger }: { trigger: Trigger }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const { repoId, nextFireAt } = trigger;
  const [isEditing, setEditing] = useState(false);
  const label = useRepositoryLabels(workspaceId, [repoId]).get(repoId) ?? repoId;
  const title = plainText(trigger.name);
  if (isEditing) {
    const close = () => setEditing(false);
    return (
      <Section title={title}>
        <TriggerForm
          workspaceId={workspaceId}
          trigger={trigger}
          onCancel={close}
          onDone={() => {
            close();
            showToast({ title: 'The trigger is saved' });
          }}
        />
      </Section>
    );
  }
  return (
    <Section
      title={title}
      description={trigger.enabled ? undefined : <Mark>paused</Mark>}
      action={<Actions trigger={trigger} onEdit={() => setEditing(true)} />}
    >
      <Sheet>
        <Facts
          rows={[
            ['Starts', causeWords(trigger)],
            ['Next', nextFireAt && <RelativeTime key="next" at={nextFireAt} />],
            [
              'Repository',
              <RepositoryLink key="repo" slug={slug} repoId={repoId} name={plainText(label)} />,
            ],
            ['Run', plainText(trigger.titleTemplate ?? trigger.runRefTemplate)],
            ['Limit', `${trigger.hourlyCap} jobs per hour`],
            [
              'Prompt',
              <pre key="prompt" className="font-mono text-xs whitespace-pre-wrap wrap-anywhere">
                {plainText(trigger.promptTemplate)}
              </pre>,
            ],
          ]}
        />
      </Sheet>
    </Section>
  );
}

function Actions({ trigger, onEdit }: { trigger: Trigger; onEdit: () => void }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const { triggerId, enabled } = trigger;
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const reason = adminReason(membership.role);
  const name = plainText(trigger.name);
  const refresh = () => client.invalidateQueries({ queryKey: triggersQuery(workspaceId).queryKey });
  const toggle = async () => {
    const ref = { workspaceId, triggerId };
    await (enabled
      ? callHub('triggerSettings', 'disable', ref)
      : callHub('triggerSettings', 'enable', ref));
    await refresh();
    showToast({ title: enabled ? `${name} is paused` : `${name} is resumed` });
  };
  const remove = async () => {
    await callHub('triggerSettings', 'delete', { workspaceId, triggerId });
    await navigate({ to: '/w/$slug/settings/triggers', params: { slug } });
    client.removeQueries({ queryKey: triggerQuery(workspaceId, triggerId).queryKey });
    await client.invalidateQueries({ queryKey: triggersQuery(workspaceId).queryKey, exact: true });
    showToast({ title: `${name} is deleted` });
  };
  return (
    <div className="flex flex-wrap gap-2">
      <ActionButton disabledReason={reason} onClick={onEdit}>
        Edit
      </ActionButton>
      <ConfirmButton
        label={enabled ? 'Pause' : 'Resume'}
        of={name}
        title={enabled ? `Pause ${name}?` : `Resume ${name}?`}
        confirmLook="primary"
        disabledReason={reason}
        onConfirm={toggle}
      >
        {enabled
          ? 'It enqueues nothing until it is resumed. Events that arrive meanwhile are kept.'
          : 'It enqueues jobs for events and times from now on.'}
      </ConfirmButton>
      <ConfirmButton
        label="Delete"
        of={name}
        title={`Delete ${name}?`}
        disabledReason={reason}
        onConfirm={remove}
      >
        It enqueues nothing more. Its jobs and runs stay.
      </ConfirmButton>
    </div>
  );
}

interface FiringsProps {
  workspaceId: string;
  slug: string;
  triggerId: string;
}

function Firings({ workspaceId, slug, triggerId }: FiringsProps) {
  const query = useQuery(firingsQuery(workspaceId, triggerId));
  return (
    <Section title="Latest firings" description="What the last events or times did.">
      <RecordRows
        what="the firings"
        query={query}
        label="Latest firings"
        items={({ firings }) => firings}
        empty={<p className="text-sm text-muted">It has not fired yet.</p>}
      >
        {({ firing, eventId }) => (
          <Row
            key={`${eventId} ${firing.at} ${firing.replay}`}
            title={
              firing.jobId === null ? (
                firingWords(firing)
              ) : (
                <span>
                  <JobLink slug={slug} name={firingWords(firing)} jobId={firing.jobId} />
                </span>
              )
            }
            facts={[
              <RelativeTime key="at" at={firing.at} />,
              eventId === null ? 'schedule' : `event ${eventId}`,
              firing.replay > 0 && `replay ${firing.replay}`,
            ]}
          />
        )}
      </RecordRows>
    </Section>
  );
}
