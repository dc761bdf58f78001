import { inviteMemberByAdmin } from '@signalbox/hub';
import { callConsole, type SignedIn } from '../../e2e/person.ts';
import { adminConfigOf, baseUrlOf, type HubWorld } from './hub.ts';
import type { HubStore } from './store.ts';

type Place = Pick<HubWorld, 'targets' | 'workspaceId'>;

/** Makes an owner of the workspace, by an invitation of the operator, and signs in. */
export async function signInOwner(store: HubStore, world: Place): Promise<SignedIn> {
  const invited = { workspaceSlug: 'bench', email: 'ada@acme.example', role: 'owner' } as const;
  const { invitationUrl } = await inviteMemberByAdmin(adminConfigOf(store), invited);
  const linkToken = invitationUrl.split('#token=')[1];
  const account = { linkToken, name: 'Ada Lovelace', password: 'copper lantern orbit mosaic' };
  const baseUrl = baseUrlOf(world.targets[0]);
  const { cookie } = await callConsole(baseUrl, 'invitations/accept', account);
  return { baseUrl, cookie, workspaceId: world.workspaceId };
}
