import { OUTAGE_GRACE_MS } from '@signalbox/contract';
import type { HubGroup } from '../cluster/hub-group.ts';
import { StartError } from '../db/data-directory.ts';
import type { Database } from '../db/engine.ts';
import { FIRST_OWNER_SCOPE, revokeFirstOwnerLinks } from '../people/create-first-owner.ts';
import { extendExpired } from '../queue/store.ts';

/** The scope of a starting hub: hubs start one after the other. */
const HUBS_SCOPE = 'hubs';

/**
 * Registers a starting hub with the hubs that share its database. The first one extends leases that
 * expired while no hub was running, so that their agents can reach a hub again; if others are
 * running, they recover expired leases. The first one also deletes links for a first owner that
 * were printed earlier; hubs that start together with it then print one each.
 *
 * @returns how many other hubs are running.
 * @throws StartError when they store the bytes of uploads in another place.
 */
export function enterHubs(
  { database }: { database: Database },
  group: Pick<HubGroup, 'enter' | 'directoryId'>,
): Promise<number> {
  return database.write([HUBS_SCOPE, FIRST_OWNER_SCOPE], async (tx) => {
    const others = await group.enter(tx);
    if (others.length === 0) {
      await extendExpired(tx, OUTAGE_GRACE_MS);
      await revokeFirstOwnerLinks(tx);
    }
    if (others.every((other) => other.directoryId === group.directoryId)) return others.length;
    throw new StartError(
      'Another hub of this database stores the bytes of uploads in another place, where this one ' +
        'would not find them: set the same SVC_S3_ENDPOINT and SVC_S3_BUCKET for all hubs, or ' +
        'SVC_DATA_DIR to a directory that all of them share.',
    );
  });
}
