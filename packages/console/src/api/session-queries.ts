import type { ResponseOf, SessionState } from '@signalbox/contract';
import { queryOptions } from '@tanstack/react-query';
import { type ConsoleRows, callHub } from './hub-call.ts';

export type { Membership, Person } from '@signalbox/contract';

/** The session state without a signed-in person, in the hub's format. */
export const signedOut: SessionState = {
  ok: true,
  person: null,
  workspaces: [],
  workspaceRefusal: 'Sign in to create a workspace.',
  firstOwnerPending: false,
};

/** The session state. Read once; signing in and out update it, a rejected call ends it. */
export function sessionQuery() {
  return queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }) => callHub('session', 'get', {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The console sessions of the signed-in person. */
export function sessionsQuery() {
  return queryOptions({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => callHub('session', 'list', {}, signal),
  });
}

/** Signs in by a one-time link. It can be used once, so the answer is kept. */
export function signInLinkQuery(linkToken: string) {
  return queryOptions({
    queryKey: ['sign-in-link', linkToken],
    queryFn: () => callHub('session', 'signInByLink', { linkToken }),
    enabled: linkToken !== '',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** Whether a first-owner link is still valid. */
export function firstOwnerQuery(linkToken: string) {
  return queryOptions({
    queryKey: ['first-owner', linkToken],
    queryFn: ({ signal }) => callHub('firstOwner', 'check', { linkToken }, signal),
    enabled: linkToken !== '',
  });
}

/** The invitation of a link, or why the link cannot be used. */
export function invitationQuery(linkToken: string) {
  return queryOptions({
    queryKey: ['invitation', linkToken],
    queryFn: ({ signal }) => callHub('invitations', 'check', { linkToken }, signal),
    enabled: linkToken !== '',
  });
}

/** An open invitation, as its page shows it. */
export type OpenInvitation = NonNullable<
  ResponseOf<ConsoleRows['invitations']['check']>['invitation']
>;

/** The person of a password-reset link, or why the link cannot be used. */
export function passwordResetQuery(linkToken: string) {
  return queryOptions({
    queryKey: ['password-reset', linkToken],
    queryFn: ({ signal }) => callHub('passwordResets', 'check', { linkToken }, signal),
    enabled: linkToken !== '',
  });
}

/** An open password-reset link, as its page shows it. */
export type OpenPasswordReset = NonNullable<
  ResponseOf<ConsoleRows['passwordResets']['check']>['reset']
>;

const DEVICE_REFRESH_MS = 5_000;

/** Opens a device session to answer. Opening binds it to this console session and is repeatable. */
export function deviceApprovalQuery(deviceId: string) {
  return queryOptions({
    queryKey: ['device-approval', deviceId],
    queryFn: ({ signal }) => callHub('deviceApprovals', 'open', { deviceId }, signal),
    enabled: deviceId !== '',
    refetchInterval: (query) =>
      query.state.data?.status === 'pending' ? DEVICE_REFRESH_MS : false,
  });
}

/** A device session, as the hub presents it. */
export type DeviceApproval = ResponseOf<ConsoleRows['deviceApprovals']['open']>;

/** The request of an assistant for access, which the hub checks. Looking changes nothing. */
export function assistantConsentQuery(query: string) {
  return queryOptions({
    queryKey: ['assistant-consent', query],
    queryFn: ({ signal }) => callHub('assistantConsents', 'open', { query }, signal),
    enabled: query !== '',
    retry: false,
  });
}

/** The request of an assistant, as the hub presents it. */
export type AssistantConsent = ResponseOf<ConsoleRows['assistantConsents']['open']>;
