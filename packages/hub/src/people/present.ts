import type { ConsoleSession, Person, SessionState } from '@signalbox/contract';
import { timestampOf } from '../clock.ts';
import { endOfSession } from './policy.ts';
import type { MembershipRow, PersonRow, SessionRow } from './store.ts';

export function presentPerson(row: PersonRow): Person {
  return { personId: row.person_id, email: row.email, name: row.name };
}

/** Who is signed in; without a person there are no workspaces either. */
export function presentSessionState(
  person: PersonRow | null,
  memberships: readonly MembershipRow[],
  firstOwnerPending: boolean,
): Omit<SessionState, 'ok'> {
  return {
    person: person && presentPerson(person),
    workspaces: memberships.map((row) => ({
      workspaceId: row.workspace_id,
      slug: row.slug,
      name: row.name,
      role: row.role,
    })),
    firstOwnerPending,
  };
}

export function presentSession(row: SessionRow, currentSessionId: string | null): ConsoleSession {
  return {
    sessionId: row.session_id,
    current: row.session_id === currentSessionId,
    createdAt: timestampOf(row.created_at),
    lastSeenAt: timestampOf(row.last_seen_at),
    expiresAt: timestampOf(endOfSession(row)),
    ip: row.address,
    userAgent: row.user_agent,
  };
}
