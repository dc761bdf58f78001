import { CONFIRMATION_AGE_MS } from '@signalbox/contract';
import { readRole } from '../access/store.ts';
import { isRecent } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import type { RequestContext } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { readSession } from '../people/store.ts';
import { readWorkspaceBySlug, type WorkspaceRow } from '../workspaces/store.ts';
import type { DeviceRow } from './store.ts';

/** The person at the console who approves or denies, and the address of their request. */
export interface Approver {
  personId: string;
  sessionId: string;
  address: string;
}

export function approverOf({ principal, address }: RequestContext): Approver {
  const { personId, sessionId } = principal;
  assert(personId !== null && sessionId !== null, 'a console session has a person');
  return { personId, sessionId, address };
}

/** The workspace that the device asked for and the person's role in it; null if not a member. */
export async function findAccess(
  reader: Reader,
  device: DeviceRow,
  { personId }: Approver,
): Promise<{ workspace: WorkspaceRow | null; role: Role | null }> {
  const workspace = await readWorkspaceBySlug(reader, device.workspace_slug);
  if (workspace === undefined) return { workspace: null, role: null };
  const role = await readRole(reader, personId, workspace.workspace_id);
  return { workspace: role === null ? null : workspace, role };
}

/** Whether the person has confirmed their password recently. */
export async function isConfirmed(tx: Tx, { sessionId }: Approver): Promise<boolean> {
  const session = await readSession(tx, sessionId);
  return session !== undefined && isRecent(session.confirmed_at, tx.nowMs, CONFIRMATION_AGE_MS);
}
