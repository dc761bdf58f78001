import type { WorkspaceRole } from '@signalbox/contract';

/** A role as part of a sentence, and what it lets a person do. */
export const roleWords: Readonly<Record<WorkspaceRole, { noun: string; may: string }>> = {
  owner: { noun: 'an owner', may: 'Owners may do everything, and create other owners.' },
  admin: { noun: 'an admin', may: 'Admins may do everything except create owners.' },
  member: {
    noun: 'a member',
    may: 'Members may enqueue jobs, run agents and answer questions.',
  },
  viewer: { noun: 'a viewer', may: 'Viewers may read everything and change nothing.' },
};
