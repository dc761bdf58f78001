import type { Database, Reader, Tx } from '../db/engine.ts';
import type { MembershipsTable, PeopleTable, Role, SessionsTable } from '../db/schema/tables.ts';

export type PersonRow = PeopleTable;
export type SessionRow = SessionsTable;
/** A membership with the workspace that it is of. */
export type MembershipRow = Pick<MembershipsTable, 'workspace_id' | 'role'> & {
  slug: string;
  name: string;
};

/** The schema's bounds of what a session shows of where it came from. */
const ADDRESS_CHARS_MAX = 64;
const USER_AGENT_CHARS_MAX = 500;

/** @param email in its folded form. */
export function readPersonByEmail(reader: Reader, email: string): Promise<PersonRow | undefined> {
  return reader.firstSql<PersonRow>('SELECT * FROM people WHERE email = ?', [email]);
}

export function readPerson(reader: Reader, personId: string): Promise<PersonRow | undefined> {
  return reader.firstSql<PersonRow>('SELECT * FROM people WHERE person_id = ?', [personId]);
}

export async function hasPeople(reader: Reader): Promise<boolean> {
  return (await reader.firstSql('SELECT 1 FROM people LIMIT 1', [])) !== undefined;
}

export async function insertPerson(database: Database, tx: Tx, row: PersonRow): Promise<void> {
  await tx.run(database.build.insertInto('people').values(row));
}

export async function updatePersonName(tx: Tx, personId: string, name: string): Promise<void> {
  await tx.runSql('UPDATE people SET name = ? WHERE person_id = ?', [name, personId]);
}

/** Replaces a password's hash; false when it is no longer the one that was proved. */
export async function updatePasswordHash(
  tx: Tx,
  personId: string,
  hashes: { from: string; to: string },
): Promise<boolean> {
  const { changes } = await tx.runSql(
    'UPDATE people SET password_hash = ? WHERE person_id = ? AND password_hash = ?',
    [hashes.to, personId, hashes.from],
  );
  return changes > 0;
}

export async function insertMembership(
  database: Database,
  tx: Tx,
  row: MembershipsTable,
): Promise<void> {
  await tx.run(database.build.insertInto('memberships').values(row));
}

export async function readRole(
  reader: Reader,
  personId: string,
  workspaceId: string,
): Promise<Role | null> {
  const row = await reader.firstSql<{ role: Role }>(
    'SELECT role FROM memberships WHERE workspace_id = ? AND person_id = ?',
    [workspaceId, personId],
  );
  return row?.role ?? null;
}

/** The workspaces that a person belongs to, by name. */
export function listMemberships(reader: Reader, personId: string): Promise<MembershipRow[]> {
  return reader.allSql<MembershipRow>(
    `SELECT m.workspace_id, m.role, w.slug, w.name FROM memberships m
     JOIN workspaces w ON w.workspace_id = m.workspace_id
     WHERE m.person_id = ? ORDER BY w.name, w.slug LIMIT 1000`,
    [personId],
  );
}

export async function insertSession(
  database: Database,
  tx: Tx,
  draft: Omit<SessionRow, 'created_at' | 'last_seen_at' | 'confirmed_at' | 'revoked_at'>,
): Promise<void> {
  const row: SessionRow = {
    ...draft,
    address: draft.address.slice(0, ADDRESS_CHARS_MAX),
    user_agent: draft.user_agent.slice(0, USER_AGENT_CHARS_MAX).toWellFormed(),
    created_at: tx.nowMs,
    last_seen_at: tx.nowMs,
    confirmed_at: tx.nowMs,
    revoked_at: null,
  };
  await tx.run(database.build.insertInto('sessions').values(row));
}

/** A session with its person's name. */
export function readSessionByHash(
  reader: Reader,
  sessionHash: string,
): Promise<(SessionRow & { person_name: string }) | undefined> {
  return reader.firstSql(
    `SELECT s.*, p.name AS person_name FROM sessions s
     JOIN people p ON p.person_id = s.person_id WHERE s.session_hash = ?`,
    [sessionHash],
  );
}

export function readSession(reader: Reader, sessionId: string): Promise<SessionRow | undefined> {
  return reader.firstSql<SessionRow>('SELECT * FROM sessions WHERE session_id = ?', [sessionId]);
}

/** Those not revoked, the latest used first; some may have ended by time. */
export function listSessions(reader: Reader, personId: string): Promise<SessionRow[]> {
  return reader.allSql<SessionRow>(
    `SELECT * FROM sessions WHERE person_id = ? AND revoked_at IS NULL
     ORDER BY last_seen_at DESC, session_id DESC LIMIT 200`,
    [personId],
  );
}

/** Ends a session of a person; false when there is none to end. */
export async function markSessionRevoked(
  tx: Tx,
  personId: string,
  sessionId: string,
): Promise<boolean> {
  const { changes } = await tx.runSql(
    `UPDATE sessions SET revoked_at = ?
     WHERE session_id = ? AND person_id = ? AND revoked_at IS NULL`,
    [tx.nowMs, sessionId, personId],
  );
  return changes > 0;
}

/** Ends every session of a person but one. Returns how many that had not been ended before. */
export async function revokeOtherSessions(
  tx: Tx,
  personId: string,
  keptSessionId: string,
): Promise<number> {
  const { changes } = await tx.runSql(
    `UPDATE sessions SET revoked_at = ?
     WHERE person_id = ? AND session_id <> ? AND revoked_at IS NULL`,
    [tx.nowMs, personId, keptSessionId],
  );
  return changes;
}

export async function markSessionSeen(tx: Tx, sessionId: string): Promise<void> {
  await tx.runSql('UPDATE sessions SET last_seen_at = ? WHERE session_id = ?', [
    tx.nowMs,
    sessionId,
  ]);
}

/** The person has just proved the password again. */
export async function markSessionConfirmed(tx: Tx, sessionId: string): Promise<void> {
  await tx.runSql('UPDATE sessions SET confirmed_at = ? WHERE session_id = ?', [
    tx.nowMs,
    sessionId,
  ]);
}

/** Sessions of a person that have ended for good; each sign-in sweeps its own person's. */
export async function deleteEndedSessions(
  tx: Tx,
  personId: string,
  lastSeenBeforeMs: number,
): Promise<void> {
  await tx.runSql(
    `DELETE FROM sessions WHERE person_id = ?
       AND (revoked_at IS NOT NULL OR expires_at <= ? OR last_seen_at <= ?)`,
    [personId, tx.nowMs, lastSeenBeforeMs],
  );
}

/** Forgets sessions of all people that could not be used any more before a time. */
export async function deleteExpiredSessions(
  tx: Tx,
  before: { expiresAtMs: number; limit: number },
): Promise<number> {
  const { changes } = await tx.runSql(
    `DELETE FROM sessions WHERE session_id IN (
       SELECT session_id FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    [before.expiresAtMs, before.limit],
  );
  return changes;
}

export async function readHubSetting(reader: Reader, name: string): Promise<string | null> {
  const row = await reader.firstSql<{ value: string }>(
    'SELECT value FROM hub_settings WHERE name = ?',
    [name],
  );
  return row?.value ?? null;
}

export async function writeHubSetting(tx: Tx, name: string, value: string): Promise<void> {
  await tx.runSql(
    `INSERT INTO hub_settings (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, value],
  );
}

export async function deleteHubSetting(tx: Tx, name: string): Promise<void> {
  await tx.runSql('DELETE FROM hub_settings WHERE name = ?', [name]);
}
