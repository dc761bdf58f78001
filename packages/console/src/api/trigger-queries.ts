import { queryOptions } from '@tanstack/react-query';
import { callHub } from './hub-call.ts';
import { pagesQuery } from './pages-query.ts';

/** A workspace has at most this many triggers, so one page holds them all. */
const TRIGGERS_MAX = 100;
const EVENTS_PAGE = 30;

export type { IntegrationEvent, IntegrationEventSummary, Trigger } from '@signalbox/contract';

export function triggersQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['triggers', workspaceId],
    queryFn: ({ signal }) =>
      callHub('triggers', 'list', { workspaceId, limit: TRIGGERS_MAX }, signal),
  });
}

export function triggerQuery(workspaceId: string, triggerId: string) {
  return queryOptions({
    queryKey: ['triggers', workspaceId, 'one', triggerId],
    queryFn: ({ signal }) => callHub('triggers', 'get', { workspaceId, triggerId }, signal),
  });
}

export function firingsQuery(workspaceId: string, triggerId: string) {
  return queryOptions({
    queryKey: ['triggers', workspaceId, 'firings', triggerId],
    queryFn: ({ signal }) => callHub('triggers', 'listFirings', { workspaceId, triggerId }, signal),
  });
}

/** The events that other systems sent, newest first. */
export function eventsQuery(workspaceId: string) {
  return pagesQuery(['integration-events', workspaceId], (from, signal) =>
    callHub('integrationEvents', 'list', { workspaceId, limit: EVENTS_PAGE, ...from }, signal),
  );
}

/** The latest events that a trigger can be tested against. */
export function testableEventsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['integration-events', workspaceId, 'testable'],
    queryFn: ({ signal }) =>
      callHub(
        'integrationEvents',
        'list',
        { workspaceId, status: 'accepted', limit: EVENTS_PAGE },
        signal,
      ),
  });
}

export function eventQuery(workspaceId: string, eventId: string) {
  return queryOptions({
    queryKey: ['integration-events', workspaceId, 'one', eventId],
    queryFn: ({ signal }) => callHub('integrationEvents', 'get', { workspaceId, eventId }, signal),
  });
}
