import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Trigger, triggersQuery } from '../../api/trigger-queries.ts';
import { plainText } from '../../format/text.ts';
import { causeWords } from '../../format/trigger-words.ts';
import { ActionButton, adminReason } from '../../parts/form/action-button.tsx';
import { buttonClasses } from '../../parts/form/button.tsx';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { ConnectionsLink } from '../../parts/record/connections-link.tsx';
import { useRepositoryLabels } from '../../parts/record/repository-labels.ts';
import { Mark, RecordRows, Row, Section } from '../../parts/settings/section.tsx';
import { EmptyState } from '../../parts/status/empty-state.tsx';
import { Moment } from '../../parts/text/relative-time.tsx';
import { TriggerForm } from '../../trigger/trigger-form.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/settings/triggers');

/** Lists what enqueues jobs without a person: events of other systems, and schedules. */
export function TriggersPage() {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug, role } = membership;
  usePageTitle(`Triggers · ${membership.name}`);
  const navigate = route.useNavigate();
  const [isMaking, setMaking] = useState(false);
  const open = ({ triggerId }: Trigger) =>
    void navigate({ to: '/w/$slug/settings/triggers/$triggerId', params: { slug, triggerId } });
  return (
    <Section
      title="Triggers"
      description="A trigger enqueues a job when an event arrives from another system, or at set times."
      action={
        !isMaking && (
          <ActionButton
            look="primary"
            disabledReason={adminReason(role)}
            onClick={() => setMaking(true)}
          >
            New trigger
          </ActionButton>
        )
      }
    >
      {isMaking && (
        <TriggerForm
          workspaceId={workspaceId}
          trigger={null}
          onCancel={() => setMaking(false)}
          onDone={open}
        />
      )}
      <TriggerList />
    </Section>
  );
}

function TriggerList() {
  const { membership } = workspace.useRouteContext();
  const { workspaceId } = membership;
  const query = useQuery(triggersQuery(workspaceId));
  const labels = useRepositoryLabels(
    workspaceId,
    query.data?.triggers.map(({ repoId }) => repoId) ?? [],
  );
  return (
    <RecordRows
      what="the triggers"
      query={query}
      label="Triggers"
      items={({ triggers }) => triggers}
      empty={
        <EmptyState
          icon="workflow"
          title="No triggers yet"
          guide="/docs/guides/events-and-triggers"
        >
          With a schedule, an agent looks at the dependencies every Monday. With an event, it plans
          each issue that your tracker opens. Begin with “New trigger”; systems that send events
          need a secret, from <ConnectionsLink slug={membership.slug} />.
        </EmptyState>
      }
    >
      {(trigger) => (
        <TriggerRow
          key={trigger.triggerId}
          trigger={trigger}
          label={labels.get(trigger.repoId) ?? trigger.repoId}
        />
      )}
    </RecordRows>
  );
}

function TriggerRow({ trigger, label }: { trigger: Trigger; label: string }) {
  const { slug } = workspace.useParams();
  const { triggerId, enabled, nextFireAt, lastFiredAt } = trigger;
  const name = plainText(trigger.name);
  return (
    <Row
      title={
        <>
          {name}
          {!enabled && <Mark>paused</Mark>}
        </>
      }
      facts={[
        causeWords(trigger),
        plainText(label),
        nextFireAt !== null && <Moment key="next" word="next" at={nextFireAt} />,
        <Moment key="fired" word="fired" at={lastFiredAt} never="never fired" />,
      ]}
      action={
        <Link
          to="/w/$slug/settings/triggers/$triggerId"
          params={{ slug, triggerId }}
          aria-label={`Open ${name}`}
          className={buttonClasses()}
        >
          Open
        </Link>
      }
    />
  );
}
