import type { ResponseOf } from '@signalbox/contract';
import { queryOptions } from '@tanstack/react-query';
import { type Age, beginningOf } from '../format/job-filters.ts';
import { type ConsoleRows, callHub } from './hub-call.ts';
import { pagesQuery } from './pages-query.ts';

/** A list is read whole up to this many rows; the audit log has pages. */
const LIST_LIMIT = 200;
const AUDIT_PAGE = 50;

export type { ConsoleSession, DeviceToken, Invitation, Member } from '@signalbox/contract';
export type WorkspaceSettings = ResponseOf<ConsoleRows['workspaceSettings']['get']>;
export type AuditEntry = ResponseOf<ConsoleRows['auditLog']['list']>['entries'][number];

export function workspaceSettingsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['workspace-settings', workspaceId],
    queryFn: ({ signal }) => callHub('workspaceSettings', 'get', { workspaceId }, signal),
  });
}

export function membersQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['members', workspaceId],
    queryFn: ({ signal }) => callHub('members', 'list', { workspaceId, limit: LIST_LIMIT }, signal),
  });
}

/** The open invitations; for owners and admins. */
export function invitationsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['invitations', workspaceId],
    queryFn: ({ signal }) =>
      callHub('invitations', 'list', { workspaceId, limit: LIST_LIMIT }, signal),
  });
}

/** For owners and admins. */
export function serviceTokensQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['service-tokens', workspaceId],
    queryFn: ({ signal }) =>
      callHub('serviceTokens', 'list', { workspaceId, limit: LIST_LIMIT }, signal),
  });
}

/** The machines that are logged in: the person's own, or those of all for owners and admins. */
export function deviceTokensQuery(workspaceId: string, of: 'me' | 'everybody') {
  return queryOptions({
    queryKey: ['device-tokens', workspaceId, of],
    queryFn: ({ signal }) =>
      callHub('deviceTokens', 'list', { workspaceId, of, limit: LIST_LIMIT }, signal),
  });
}

/** For owners and admins, as the next two. */
export function chatTeamsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['chat-teams', workspaceId],
    queryFn: ({ signal }) => callHub('chatTeams', 'list', { workspaceId }, signal),
  });
}

export function integrationSecretsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['integration-secrets', workspaceId],
    queryFn: ({ signal }) => callHub('integrationSecrets', 'list', { workspaceId }, signal),
  });
}

export function mailAccountsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['mail-accounts', workspaceId],
    queryFn: ({ signal }) => callHub('mailAccounts', 'list', { workspaceId }, signal),
  });
}

/** The person's own. */
export function notificationChannelsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['notification-channels', workspaceId],
    queryFn: ({ signal }) => callHub('notificationChannels', 'list', { workspaceId }, signal),
  });
}

/** No change announces that a message was sent; the list is shown only while it is unfolded. */
const TOLD_REFRESH_MS = 2_000;

/** Who was told of a question. */
export function notificationsQuery(workspaceId: string, uncertaintyId: string) {
  return queryOptions({
    queryKey: ['notifications', workspaceId, uncertaintyId],
    queryFn: ({ signal }) =>
      callHub('notifications', 'list', { workspaceId, uncertaintyId }, signal),
    refetchInterval: TOLD_REFRESH_MS,
  });
}

/** The last messages by a channel of the person's own. */
export function channelMessagesQuery(workspaceId: string, channelId: string) {
  return queryOptions({
    queryKey: ['channel-messages', workspaceId, channelId],
    queryFn: ({ signal }) =>
      callHub('notificationChannels', 'messages', { workspaceId, channelId }, signal),
    refetchInterval: TOLD_REFRESH_MS,
  });
}

/** Filters of the audit log; all are part of the URL. */
export interface AuditFilters {
  /** Such as `token.revoke`. */
  action?: string | undefined;
  /** The ID of a person or another principal. */
  actor?: string | undefined;
  /** The ID of the record that was changed. */
  subject?: string | undefined;
  /** Entries within this time. */
  since?: Age | undefined;
}

/** For owners and admins; newest first. */
export function auditQuery(workspaceId: string, filters: AuditFilters) {
  const { action, actor, subject, since } = filters;
  return pagesQuery(['audit', workspaceId, filters], (from, signal) => {
    const page = {
      workspaceId,
      limit: AUDIT_PAGE,
      ...from,
      ...(action && { action }),
      ...(actor && { actor }),
      ...(subject && { subject }),
      ...(since && { fromAt: beginningOf(since, Date.now()) }),
    };
    return callHub('auditLog', 'list', page, signal);
  });
}
