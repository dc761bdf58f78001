import type { WorkspaceRole } from '@signalbox/contract';

/** A role as part of a sentence, and what it lets a person do. */
export const roleWords: Readonly<Record<WorkspaceRole, { withArticle: string; may: string }>> = {
  owner: { withArticle: 'an owner', may: 'Owners may do everything, and create other owners.' },
  admin: { withArticle: 'an admin', may: 'Admins may do everything except create owners.' },
  member: {
    withArticle: 'a member',
    may: 'Members may enqueue jobs, run agents and answer questions.',
  },
  viewer: { withArticle: 'a viewer', may: 'Viewers may read everything and change nothing.' },
};

/** All roles, for choosing one. */
export const roleOptions: readonly { value: WorkspaceRole; word: string }[] = [
  { value: 'viewer', word: 'Viewer' },
  { value: 'member', word: 'Member' },
  { value: 'admin', word: 'Admin' },
  { value: 'owner', word: 'Owner' },
];
