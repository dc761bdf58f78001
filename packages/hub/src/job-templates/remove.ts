import { appendAudit } from '../audit/append.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { deleteRows } from '../db/row-write.ts';

/** Deletes a template, if there is one of this name. */
export function removeTemplate(
  { database }: { database: Database },
  { principalId: actor }: Principal,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    const template = { workspace_id: workspaceId, name };
    if ((await deleteRows(tx, 'job_templates', template)) === 0) return;
    await appendAudit(tx, { workspaceId, actor, action: 'job-template.remove', subject: name });
  });
}
