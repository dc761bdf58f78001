import type { Hint } from '../cluster/hint-payload.ts';
import type { HintHandler } from '../cluster/hint-receiver.ts';
import type { Database } from '../db/engine.ts';
import type { DecisionWaiters } from './decision-waiters.ts';
import { listNotOpen } from './store.ts';

/** An uncertainty was resolved. */
const UNCERTAINTY = 'uncertainty';

/** The hint for other hubs that have requests which wait for this resolution. */
export function hintOfResolution(uncertaintyId: string): Hint {
  return { kind: UNCERTAINTY, id: uncertaintyId };
}

/** Wakes requests that wait on this hub for resolutions of other hubs. */
export function createDecisionHintHandler({
  database,
  decisionWaiters,
}: {
  database: Database;
  decisionWaiters: DecisionWaiters;
}): HintHandler {
  return {
    async onWorkspaceHints(workspaceId, { ids }) {
      for (const uncertaintyId of Object.keys(ids[UNCERTAINTY] ?? {})) {
        decisionWaiters.wakeHere(workspaceId, uncertaintyId);
      }
    },
    async look() {
      const parked = decisionWaiters.parkedIds();
      if (parked.length === 0) return false;
      for (const row of await listNotOpen(database.reader, parked)) {
        decisionWaiters.wakeHere(row.workspace_id, row.uncertainty_id);
      }
      return false;
    },
  };
}
