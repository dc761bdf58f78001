import { hash } from 'node:crypto';
import { listMembershipsOfPerson } from '../access/store.ts';
import type { Tx } from '../db/engine.ts';
import { type AuditEntry, insertAuditEntry, readLastAuditEntry } from './store.ts';

/** An act to record. `data` is JSON for people to read; it never contains a secret. */
interface AuditRecord {
  workspaceId: string;
  /** The principal's id, or `operator` for the hub's own command line. */
  actor: string;
  /** Subject and verb, such as `device.approve`. */
  action: string;
  /** The id of the record that the act changed. */
  subject: string;
  data?: Record<string, unknown>;
}

/** The previous hash of a workspace's first entry. */
export const CHAIN_START = '';

/**
 * Appends an entry to a workspace's audit log, in the transaction of the recorded change: both are
 * committed or neither. Each entry contains the hash of the previous one, so that changing any
 * entry breaks the chain.
 *
 * @returns the entry's number.
 */
export async function appendAudit(tx: Tx, record: AuditRecord): Promise<number> {
  const last = await readLastAuditEntry(tx, record.workspaceId);
  const entry = {
    workspace_id: record.workspaceId,
    seq: (last?.seq ?? 0) + 1,
    at: tx.nowMs,
    actor: record.actor,
    action: record.action,
    subject: record.subject,
    data: JSON.stringify(record.data ?? {}),
    previous_hash: last?.hash ?? CHAIN_START,
  };
  await insertAuditEntry(tx, { ...entry, hash: hashAuditEntry(entry) });
  return entry.seq;
}

/**
 * Records an act of a person on their own account. Accounts do not belong to one workspace, so the
 * log of each workspace of the person gets an entry.
 */
export async function appendAccountAudit(
  tx: Tx,
  personId: string,
  record: Pick<AuditRecord, 'action' | 'subject' | 'data'>,
): Promise<void> {
  for (const { workspace_id } of await listMembershipsOfPerson(tx, personId)) {
    await appendAudit(tx, { ...record, workspaceId: workspace_id, actor: personId });
  }
}

/** SHA-256 over every field, including the hash of the previous entry. */
export function hashAuditEntry(entry: Omit<AuditEntry, 'hash'>): string {
  const { workspace_id, seq, at, actor, action, subject, data, previous_hash } = entry;
  return hash(
    'sha256',
    JSON.stringify([workspace_id, seq, at, actor, action, subject, data, previous_hash]),
  );
}
