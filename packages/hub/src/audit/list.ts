import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { readTimestamp } from '../base/clock.ts';
import type { Principal } from '../base/principal.ts';
import type { Database, Reader } from '../db/engine.ts';
import { type AuditEntry, listAuditEntries } from './store.ts';

type ListInput = RequestInput<typeof consoleEndpoints.auditLog.list.request>;

export interface AuditDeps {
  database: Database;
  /**
   * The names of people by id. `app.ts` passes the function of `people/`, which this module cannot
   * import: people's changes are audited.
   */
  readPersonNames(
    reader: Reader,
    personIds: readonly string[],
  ): Promise<ReadonlyMap<string, { name: string }>>;
}

/** An entry with the name of the person who acted; null for other actors. */
export type AuditEntryWithName = AuditEntry & { actor_name: string | null };

/**
 * Newest first; one more than `limit`.
 * @throws HubError NOT_ALLOWED, INVALID_REQUEST
 */
export async function listAuditLog(
  { database, readPersonNames }: AuditDeps,
  principal: Principal,
  input: ListInput,
  before: number | null,
): Promise<AuditEntryWithName[]> {
  const { reader } = database;
  const { workspaceId, limit, actor, action, subject, fromAt, untilAt } = input;
  await requireAct(reader, principal, workspaceId, 'audit.read');
  const filter = {
    actor,
    action,
    subject,
    fromMs: fromAt === undefined ? undefined : readTimestamp('/fromAt', fromAt),
    untilMs: untilAt === undefined ? undefined : readTimestamp('/untilAt', untilAt),
  };
  const entries = await listAuditEntries(database.reader, workspaceId, filter, { limit, before });
  const names = await readPersonNames(
    reader,
    entries.map((entry) => entry.actor),
  );
  return entries.map((entry) => ({ ...entry, actor_name: names.get(entry.actor)?.name ?? null }));
}
