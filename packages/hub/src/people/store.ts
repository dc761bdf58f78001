import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { PeopleTable, SessionsTable } from '../db/schema/tables.ts';

export type PersonRow = PeopleTable;
export type SessionRow = SessionsTable;

/** The form in which e-mail addresses are stored and compared: one spelling for each person. */
export function foldEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/**
 * Accounts of one address that a sign-in considers, oldest first, and that may be created.
 * Workspaces that invite an address independently may lead to several.
 */
export const ACCOUNTS_OF_ADDRESS_MAX = 20;

/**
 * The accounts with an address, oldest first. An address is no proof of a person: who accepts an
 * invitation chooses the password, and the hub sends no mail.
 *
 * @param email as `foldEmail` returns it.
 */
export function listPeopleByEmail(reader: Reader, email: string): Promise<PersonRow[]> {
  return reader.allSql<PersonRow>(
    `SELECT ${allColumns.people} FROM people WHERE email = ? ORDER BY created_at, person_id LIMIT ?`,
    [email, ACCOUNTS_OF_ADDRESS_MAX],
  );
}

export function readPerson(reader: Reader, personId: string): Promise<PersonRow | undefined> {
  return reader.firstSql<PersonRow>(`SELECT ${allColumns.people} FROM people WHERE person_id = ?`, [
    personId,
  ]);
}

/** A person as other people see them. */
export type PersonName = Pick<PersonRow, 'person_id' | 'email' | 'name'>;

/** The people with these ids, by id. Ids of other principals have no entry. */
export async function readPersonNames(
  reader: Reader,
  personIds: readonly string[],
): Promise<Map<string, PersonName>> {
  const people = await reader.allSql<PersonName>(
    `SELECT person_id, email, name FROM people
     WHERE person_id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify([...new Set(personIds)])],
  );
  return new Map(people.map((person) => [person.person_id, person]));
}

/** A person as members of their workspaces see them. */
export type MemberPerson = PersonName & Pick<PersonRow, 'absent_until'>;

/** The people with these ids, by id. */
export async function readMemberPeople(
  reader: Reader,
  personIds: readonly string[],
): Promise<Map<string, MemberPerson>> {
  const people = await reader.allSql<MemberPerson>(
    `SELECT person_id, email, name, absent_until FROM people
     WHERE person_id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(personIds)],
  );
  return new Map(people.map((person) => [person.person_id, person]));
}

export async function hasPeople(reader: Reader): Promise<boolean> {
  return (await reader.firstSql('SELECT 1 FROM people LIMIT 1', [])) !== undefined;
}

type NewPerson = Omit<PersonRow, 'quiet_hours' | 'absent_until' | 'digest_hours'>;

export async function insertPerson(tx: Tx, row: NewPerson): Promise<void> {
  insertRow(tx, 'people', { ...row, quiet_hours: null, absent_until: null, digest_hours: 0 });
}

/** Writes some columns of a person. */
export async function updatePerson(
  tx: Tx,
  personId: string,
  changes: Partial<PersonRow>,
): Promise<void> {
  await updateRows(tx, 'people', { person_id: personId }, changes);
}

/** Until when those of some persons are out of office who are, by person. */
export async function readOutOfOffice(
  reader: Reader,
  personIds: readonly string[],
  nowMs: number,
): Promise<Map<string, number>> {
  const people = await reader.allSql<{ person_id: string; absent_until: number }>(
    `SELECT person_id, absent_until FROM people
     WHERE absent_until > ? AND person_id IN (SELECT value FROM json_each(?))`,
    [nowMs, JSON.stringify(personIds)],
  );
  return new Map(people.map(({ person_id, absent_until }) => [person_id, absent_until]));
}

/** Replaces a password's hash. Returns false if it is no longer `hashes.from`. */
export async function updatePasswordHash(
  tx: Tx,
  personId: string,
  hashes: { from: string; to: string },
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'people',
    { person_id: personId, password_hash: hashes.from },
    { password_hash: hashes.to },
  );
  return changes > 0;
}

/** A session with the name of its person. */
export interface SessionOfPerson extends SessionRow {
  person_name: string;
}

export function readSessionByHash(
  reader: Reader,
  sessionHash: string,
): Promise<SessionOfPerson | undefined> {
  return reader.firstSql(
    `SELECT ${columnsOf('s', 'sessions')}, p.name AS person_name FROM sessions s
     JOIN people p ON p.person_id = s.person_id WHERE s.session_hash = ?`,
    [sessionHash],
  );
}

export function readSession(reader: Reader, sessionId: string): Promise<SessionRow | undefined> {
  return reader.firstSql<SessionRow>(
    `SELECT ${allColumns.sessions} FROM sessions WHERE session_id = ?`,
    [sessionId],
  );
}

/** The sessions that were not revoked, last used first; some may have expired. */
export function listSessions(reader: Reader, personId: string): Promise<SessionRow[]> {
  return reader.allSql<SessionRow>(
    `SELECT ${allColumns.sessions} FROM sessions WHERE person_id = ? AND revoked_at IS NULL
     ORDER BY last_seen_at DESC, session_id DESC LIMIT 200`,
    [personId],
  );
}

/** Revokes a session of a person. Returns false if it does not exist or was revoked already. */
export async function markSessionRevoked(
  tx: Tx,
  personId: string,
  sessionId: string,
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'sessions',
    { session_id: sessionId, person_id: personId, revoked_at: null },
    { revoked_at: tx.nowMs },
  );
  return changes > 0;
}

/** Revokes all sessions of a person except one. Returns how many were not revoked before. */
export async function revokeOtherSessions(
  tx: Tx,
  personId: string,
  keptSessionId: string,
): Promise<number> {
  return updateRows(
    tx,
    'sessions',
    { person_id: personId, revoked_at: null, also: sql('session_id <> ?', keptSessionId) },
    { revoked_at: tx.nowMs },
  );
}

/** Writes some columns of a session. */
export async function updateSession(
  tx: Tx,
  sessionId: string,
  changes: Pick<SessionRow, 'last_seen_at'> | Pick<SessionRow, 'confirmed_at'>,
): Promise<void> {
  await updateRows(tx, 'sessions', { session_id: sessionId }, changes);
}

/** Deletes the ended sessions of a person. Each sign-in does this for its person. */
export async function deleteEndedSessions(
  tx: Tx,
  personId: string,
  lastSeenBeforeMs: number,
): Promise<void> {
  const hasEnded = sql(
    'revoked_at IS NOT NULL OR expires_at <= ? OR last_seen_at <= ?',
    tx.nowMs,
    lastSeenBeforeMs,
  );
  await deleteRows(tx, 'sessions', { person_id: personId, also: hasEnded });
}

/** Deletes sessions of all people that expired before a time. Returns how many. */
export async function deleteExpiredSessions(
  tx: Tx,
  before: { expiresAtMs: number; limit: number },
): Promise<number> {
  const isOld = sql(
    `session_id IN (
       SELECT session_id FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    before.expiresAtMs,
    before.limit,
  );
  return deleteRows(tx, 'sessions', { also: isOld });
}

/**
 * Revokes the sessions of all people, also expired ones. Returns how many were live.
 *
 * @param seenSinceMs sessions that were not used since have expired.
 */
export async function revokeAllSessions(tx: Tx, seenSinceMs: number): Promise<number> {
  const live = await tx.firstSql<{ n: number }>(
    `SELECT COUNT(*) AS n FROM sessions
     WHERE revoked_at IS NULL AND expires_at > ? AND last_seen_at > ?`,
    [tx.nowMs, seenSinceMs],
  );
  await updateRows(tx, 'sessions', { revoked_at: null }, { revoked_at: tx.nowMs });
  return Number(live?.n ?? 0);
}
