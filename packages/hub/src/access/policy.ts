import type { Role } from '../db/schema/tables.ts';

/** What people do in a workspace at the console, beside what the scopes of their role open. */
export type Act =
  | 'member.list'
  | 'member.change'
  | 'member.leave'
  | 'invitation.manage'
  | 'workspace.read'
  | 'workspace.update'
  | 'service-token.manage'
  | 'device-token.manage-own'
  | 'device-token.manage-all'
  | 'audit.read'
  | 'mail-account.manage'
  | 'trigger.manage'
  | 'chat-team.manage';

const everybody: readonly Role[] = ['owner', 'admin', 'member', 'viewer'];
const administrators: readonly Role[] = ['owner', 'admin'];

/** Who may do what: one row for each act. */
const rolesByAct: Record<Act, readonly Role[]> = {
  'member.list': everybody,
  'member.change': administrators,
  'member.leave': everybody,
  'invitation.manage': administrators,
  'workspace.read': everybody,
  'workspace.update': administrators,
  'service-token.manage': administrators,
  'device-token.manage-own': everybody,
  'device-token.manage-all': administrators,
  'audit.read': administrators,
  'mail-account.manage': administrators,
  'trigger.manage': administrators,
  'chat-team.manage': administrators,
};

export function mayAct(role: Role, act: Act): boolean {
  return rolesByAct[act].includes(role);
}

/** Whether somebody may give a role, or touch somebody who has it: owners are made by owners. */
export function mayHandle(actor: Role, role: Role): boolean {
  return actor === 'owner' || (actor === 'admin' && role !== 'owner');
}

/** Why a member's role may not become another (null: she goes); null when it may. */
export function judgeRoleChange(change: {
  actor: Role;
  from: Role;
  to: Role | null;
  ownerCount: number;
}): 'NOT_ALLOWED' | 'LAST_OWNER' | null {
  const { actor, from, to, ownerCount } = change;
  if (!mayHandle(actor, from) || (to !== null && !mayHandle(actor, to))) return 'NOT_ALLOWED';
  return judgeDeparture({ from, to, ownerCount });
}

/** The same for somebody who steps down by herself: everybody may, but the last owner. */
export function judgeDeparture(change: {
  from: Role;
  to: Role | null;
  ownerCount: number;
}): 'LAST_OWNER' | null {
  const { from, to, ownerCount } = change;
  return from === 'owner' && to !== 'owner' && ownerCount <= 1 ? 'LAST_OWNER' : null;
}
