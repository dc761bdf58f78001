import type { AnswerOf, ConsoleSession, consoleEndpoints, Person } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { endOfSession } from './policy.ts';
import type { CheckedPasswordReset } from './reset-password.ts';
import type { PersonRow, SessionRow } from './store.ts';

export function presentPerson(row: PersonRow): Person {
  return { personId: row.person_id, email: row.email, name: row.name };
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

/** The state of a password-reset link, as its page shows it to the holder of the link. */
export function presentPasswordReset({
  status,
  open,
}: CheckedPasswordReset): AnswerOf<typeof consoleEndpoints.passwordResets.check> {
  const reset = open && { email: open.email, expiresAt: timestampOf(open.expiresAtMs) };
  return { status, reset };
}
