import type { AuditLogEntry } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import type { AuditEntryWithName } from './list.ts';

export function presentAuditEntry(row: AuditEntryWithName): AuditLogEntry {
  return {
    seq: row.seq,
    at: timestampOf(row.at),
    actor: row.actor,
    actorName: row.actor_name,
    action: row.action,
    subject: row.subject,
    // appendAudit writes only objects.
    data: JSON.parse(row.data) as Record<string, unknown>,
    hash: row.hash,
  };
}
