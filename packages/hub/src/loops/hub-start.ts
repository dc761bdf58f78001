import { OUTAGE_GRACE_MS } from '@signalbox/contract';
import type { HubGroup } from '../cluster/hub-group.ts';
import { enterHub } from '../cluster/hub-heartbeat.ts';
import { StartError } from '../db/data-directory.ts';
import type { Database } from '../db/engine.ts';
import { forgetFirstOwnerLinks } from '../people/create-first-owner.ts';
import { extendExpired } from '../queue/queue-store.ts';

/**
 * Enters a hub that starts among those that run. The first one gives leases that ran out while no
 * hub was up a little longer, so that their agents can reach a hub again (contract, section 4);
 * those that ran out while others were up are the others' to take back. It also ends the links for
 * a first owner that were printed before; hubs that start with it then print one each.
 *
 * @returns how many other hubs run.
 * @throws StartError when they keep the bytes of uploads at another place.
 */
export function enterHubs(
  { database }: { database: Database },
  hub: Pick<HubGroup, 'hubId' | 'directoryId'>,
): Promise<number> {
  return database.write(null, async (tx) => {
    const others = tx.engine === 'postgres' ? (await enterHub(tx, hub)).others : [];
    if (others.length === 0) {
      await extendExpired(tx, OUTAGE_GRACE_MS);
      await forgetFirstOwnerLinks(tx);
    }
    if (others.every((other) => other.directoryId === hub.directoryId)) return others.length;
    throw new StartError(
      'Another hub of this database keeps the bytes of uploads at another place, where this one ' +
        'would not find them: set the same SVC_S3_ENDPOINT and SVC_S3_BUCKET for all hubs, or ' +
        'SVC_DATA_DIR to a directory that all of them share.',
    );
  });
}
