import type { Scope } from '@signalbox/contract';
import type { Role } from '../db/schema/tables.ts';

/** Acts of people in a workspace at the console, in addition to the scopes of their role. */
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
  | 'notification.manage-own'
  | 'decision-rule.manage'
  | 'trigger.manage'
  | 'chat-team.manage'
  | 'upload.delete'
  | 'review-comment.remove'
  | 'integration-secret.manage';

const everyRole: readonly Role[] = ['owner', 'admin', 'member', 'viewer'];
const administrators: readonly Role[] = ['owner', 'admin'];

/** The roles that may do each act. */
const rolesByAct: Record<Act, readonly Role[]> = {
  'member.list': everyRole,
  'member.change': administrators,
  'member.leave': everyRole,
  'invitation.manage': administrators,
  'workspace.read': everyRole,
  'workspace.update': administrators,
  'service-token.manage': administrators,
  'device-token.manage-own': everyRole,
  'device-token.manage-all': administrators,
  'audit.read': administrators,
  'mail-account.manage': administrators,
  'notification.manage-own': everyRole,
  'decision-rule.manage': ['owner', 'admin', 'member'],
  'trigger.manage': administrators,
  'chat-team.manage': administrators,
  'upload.delete': administrators,
  'review-comment.remove': ['owner'],
  'integration-secret.manage': administrators,
};

export function mayAct(role: Role, act: Act): boolean {
  return rolesByAct[act].includes(role);
}

/**
 * Why a person may not create a workspace, in a sentence, by the operator's setting and their roles
 * anywhere; null if they may.
 */
export function refusalOfCreation(
  allowed: 'admins' | 'everyone' | 'operator',
  roles: readonly Role[],
): string | null {
  if (allowed === 'everyone') return null;
  if (allowed === 'operator') {
    return 'The operator creates the workspaces of this hub: ask them for one.';
  }
  return roles.some((role) => administrators.includes(role))
    ? null
    : 'Only owners and admins of a workspace may create another: ask one of them.';
}

export const allScopes: readonly Scope[] = ['agent', 'enqueue', 'read', 'decide', 'integrate'];

const scopesByRole: Record<Role, readonly Scope[]> = {
  owner: allScopes,
  admin: allScopes,
  member: allScopes,
  viewer: ['read'],
};

/** The scopes that a person has in a workspace, at the console and on their machines alike. */
export function scopesOfRole(role: Role): readonly Scope[] {
  return scopesByRole[role];
}

/** Whether an actor may give a role, or change a member who has it. Only owners handle owners. */
export function mayHandle(actor: Role, role: Role): boolean {
  return actor === 'owner' || (actor === 'admin' && role !== 'owner');
}

/** Why an actor may not change a member's role; null if they may. `to: null` removes the member. */
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

/** Why members may not give up their own role; null if they may. Only the last owner may not. */
export function judgeDeparture(change: {
  from: Role;
  to: Role | null;
  ownerCount: number;
}): 'LAST_OWNER' | null {
  const { from, to, ownerCount } = change;
  return from === 'owner' && to !== 'owner' && ownerCount <= 1 ? 'LAST_OWNER' : null;
}
