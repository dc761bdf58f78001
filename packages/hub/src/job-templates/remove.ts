import { appendAudit } from '../audit/append.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { deleteTemplate } from './store.ts';

/** Deletes a template, if there is one of this name. */
export function removeTemplate(
  { database }: { database: Database },
  { principalId: actor }: Principal,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<void> {
  return database.write(workspaceId, async (tx) => {
    if ((await deleteTemplate(tx, workspaceId, name)) === 0) return;
    await appendAudit(tx, { workspaceId, actor, action: 'job-template.remove', subject: name });
  });
}
