import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import {
  eventQuery,
  eventsQuery,
  type IntegrationEvent,
  type IntegrationEventSummary,
  triggersQuery,
} from '../../api/trigger-queries.ts';
import { plainText } from '../../format/text.ts';
import { firingWords, ignoredWords, mismatchWords } from '../../format/trigger-words.ts';
import { MoreButton } from '../../parts/page/page-parts.tsx';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { ConnectionsLink } from '../../parts/record/connections-link.tsx';
import { JobLink } from '../../parts/record/record-links.tsx';
import { Records, Section } from '../../parts/settings/section.tsx';
import { EmptyState } from '../../parts/status/empty-state.tsx';
import { ReadFailure } from '../../parts/status/read-failure.tsx';
import { SkeletonRows } from '../../parts/status/skeleton.tsx';
import { RelativeTime } from '../../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');

/** Lists what other systems sent, and what each event did. */
export function EventsPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Events · ${membership.name}`);
  const list = useInfiniteQuery(eventsQuery(membership.workspaceId));
  const events = list.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <Section
      title="Events"
      description="What other systems and the chat sent, newest first, and what became of it."
    >
      {list.isPending && <SkeletonRows what="the events" rows={6} />}
      <ReadFailure read={list} />
      {list.data && events.length === 0 && (
        <EmptyState icon="activity" title="No events yet" guide="/docs/guides/events-and-triggers">
          Trackers, CI and chat send events here; triggers turn them into jobs. Create a secret in{' '}
          <ConnectionsLink slug={membership.slug} />, and let your system send its events with it.
        </EmptyState>
      )}
      {events.length > 0 && (
        <ol aria-label="Events" className="divide-y overflow-hidden rounded-lg border bg-surface">
          {events.map((event) => (
            <EventRow key={event.eventId} event={event} />
          ))}
        </ol>
      )}
      <MoreButton list={list}>Show more events</MoreButton>
    </Section>
  );
}

/** A row that unfolds to the fate of the event and its payload. */
function EventRow({ event }: { event: IntegrationEventSummary }) {
  const [isOpen, setOpen] = useState(false);
  const { eventId, type, source, title, ignored, receivedAt } = event;
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="grid min-h-row cursor-pointer grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 px-3 py-2 hover:bg-hover sm:px-4 pointer-coarse:min-h-11">
          <span className="min-w-0 wrap-anywhere">
            <span className="font-medium">{plainText(title ?? eventId)}</span>
            <span className="block text-xs text-muted">
              {plainText(`${type} from ${source}`)}
              {ignored !== null && ` · ignored: ${ignoredWords[ignored]}`}
            </span>
          </span>
          <RelativeTime at={receivedAt} className="text-xs text-muted" />
        </summary>
        {isOpen && <EventDetails eventId={eventId} />}
      </details>
    </li>
  );
}

function EventDetails({ eventId }: { eventId: string }) {
  const { membership } = workspace.useRouteContext();
  const query = useQuery(eventQuery(membership.workspaceId, eventId));
  return (
    <div className="grid gap-3 border-t px-3 py-3 text-sm sm:px-4">
      <Records what="the event" query={query}>
        {({ event }) => (
          <>
            <Fate event={event} />
            <Payload event={event} />
          </>
        )}
      </Records>
    </div>
  );
}

function Fate({ event }: { event: IntegrationEvent }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const { triggers = [] } = useQuery(triggersQuery(workspaceId)).data ?? {};
  const names = new Map(triggers.map(({ triggerId, name }) => [triggerId, plainText(name)]));
  const nameOf = (triggerId: string) => names.get(triggerId) ?? triggerId;
  if (event.ignored !== null) return <p>Ignored: {ignoredWords[event.ignored]}.</p>;
  if (event.firings.length === 0 && event.unmatched.length === 0) {
    return <p>No trigger was enabled when it arrived.</p>;
  }
  return (
    <ul aria-label="What it did" className="grid gap-1">
      {event.firings.map((firing) => (
        <li key={`${firing.triggerId} ${firing.replay}`} className="wrap-anywhere">
          <span className="font-medium">{nameOf(firing.triggerId)}: </span>
          {firing.jobId === null ? (
            firingWords(firing)
          ) : (
            <JobLink slug={slug} name={firingWords(firing)} jobId={firing.jobId} />
          )}
        </li>
      ))}
      {event.unmatched.map(({ triggerId, failed }) => (
        <li key={triggerId} className="text-muted wrap-anywhere">
          {nameOf(triggerId)}: {mismatchWords(failed)}
        </li>
      ))}
    </ul>
  );
}

function Payload({ event }: { event: IntegrationEvent }) {
  if (event.isForgotten) return <p className="text-muted">Its content was deleted.</p>;
  const { actor, threadRef, sourceRef, occurredAt, data, extensions } = event;
  const payload = { actor, threadRef, sourceRef, occurredAt, data, extensions };
  return (
    <details>
      <summary className="cursor-pointer py-1 text-muted hover:text-ink pointer-coarse:py-3">
        Payload
      </summary>
      <pre className="mt-1 overflow-x-auto rounded-md bg-well p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
        {plainText(JSON.stringify(payload, null, 2))}
      </pre>
    </details>
  );
}
