import { OUTAGE_GRACE_MS } from '@signalbox/contract';
import type { Database } from '../db/engine.ts';
import type { HubGroup } from '../db/hub-group.ts';
import { enterHub } from '../db/hub-pulse.ts';
import { extendExpired } from '../queue/queue-store.ts';

/**
 * Enters a hub that starts among those that run. The first one gives leases that ran out while no
 * hub was up a little longer, so that their agents can reach a hub again (contract, section 4);
 * those that ran out while others were up are the others' to take back.
 *
 * @returns the other hubs that run.
 */
export function enterHubs(
  { database }: { database: Database },
  hub: Pick<HubGroup, 'hubId' | 'directoryId'>,
): Promise<{ hubId: string; directoryId: string }[]> {
  return database.write(null, async (tx) => {
    const others = tx.engine === 'postgres' ? (await enterHub(tx, hub)).others : [];
    if (others.length === 0) await extendExpired(tx, OUTAGE_GRACE_MS);
    return others;
  });
}
