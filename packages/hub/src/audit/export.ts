import { requireAct } from '../access/require-act.ts';
import type { Principal } from '../base/principal.ts';
import type { Database, Reader } from '../db/engine.ts';
import { appendAudit } from './append.ts';
import type { AuditEntry } from './store.ts';
import { walkAuditLog } from './verify.ts';

/**
 * Records the export in the log and starts it. The recorded entry is the last one exported, even
 * if others are appended meanwhile.
 *
 * @returns JSON lines, one entry each, oldest first.
 * @throws HubError NOT_ALLOWED
 */
export async function exportAuditLog(
  { database }: { database: Database },
  principal: Principal,
  workspaceId: string,
): Promise<AsyncIterable<string>> {
  const lastSeq = await database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'audit.read');
    return appendAudit(tx, {
      workspaceId,
      actor: personId,
      action: 'audit.export',
      subject: workspaceId,
    });
  });
  return writeLines(database.reader, workspaceId, lastSeq);
}

async function* writeLines(
  reader: Reader,
  workspaceId: string,
  lastSeq: number,
): AsyncGenerator<string> {
  for await (const entry of walkAuditLog(reader, workspaceId)) {
    if (entry.seq > lastSeq) return;
    yield `${JSON.stringify(lineOf(entry))}\n`;
  }
}

/** Every hashed field and the hash, so that a reader can verify the chain. */
function lineOf(entry: AuditEntry) {
  const { workspace_id: workspaceId, previous_hash: previousHash, ...rest } = entry;
  const { seq, at, actor, action, subject, data, hash } = rest;
  return { workspaceId, seq, at, actor, action, subject, data, previousHash, hash };
}
