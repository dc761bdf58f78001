import type { SessionState } from '@signalbox/contract';
import { refusalOfCreation } from '../access/policy.ts';
import { listMembershipsOfPerson } from '../access/store.ts';
import { presentMembership } from '../workspaces/present.ts';
import { listWorkspaces } from '../workspaces/store.ts';
import type { PeopleDeps } from './deps.ts';
import { presentPerson } from './present.ts';
import { hasPeople, type PersonRow } from './store.ts';

const SIGNED_OUT = 'Sign in to create a workspace.';

/** The signed-in person, or null, and their workspaces ordered by name. */
export async function readSessionState(
  deps: Pick<PeopleDeps, 'database' | 'workspaceCreation' | 'changePosition'>,
  person: PersonRow | null,
): Promise<Omit<SessionState, 'ok'>> {
  const { workspaceCreation, changePosition } = deps;
  const { reader } = deps.database;
  const memberships =
    person === null ? [] : await listMembershipsOfPerson(reader, person.person_id);
  const roles = new Map(memberships.map(({ workspace_id, role }) => [workspace_id, role]));
  const workspaces = await listWorkspaces(reader, [...roles.keys()]);
  return {
    person: person && presentPerson(person),
    workspaces: workspaces.flatMap((workspace) => {
      const role = roles.get(workspace.workspace_id);
      if (role === undefined) return [];
      return [presentMembership(workspace, role, changePosition(workspace.workspace_id))];
    }),
    workspaceRefusal:
      person === null ? SIGNED_OUT : refusalOfCreation(workspaceCreation, [...roles.values()]),
    firstOwnerPending: !(await hasPeople(reader)),
  };
}
