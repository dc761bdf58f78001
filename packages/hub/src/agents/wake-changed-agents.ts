import type { HintHandler } from '../cluster/hint-receiver.ts';
import type { Database } from '../db/engine.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import { listClaimStates } from './store-claim-states.ts';

/** While hints arrive, one is lost only with the hub that was about to send it. */
const LOOKS_PER_CHECK = 10;
/** New claims that one look tries again because they may have missed something. */
const NEW_CLAIMS_MAX = 200;

/**
 * Wakes claims that wait on this hub when their agent may be given other jobs than before: it has a
 * free slot again, or its queue is no longer paused. Hints of such changes are handled with those
 * of the queue; this finds the ones that were lost, by comparing the agents' states with those of
 * the last look.
 */
export function createChangedAgentHandler({
  database,
  waiters,
}: {
  database: Database;
  waiters: ClaimWaiters;
}): HintHandler {
  /** The state of a claim's agent at the last look, by the claim's request. */
  const known = new WeakMap<AbortSignal, string>();
  let looks = 0;

  return {
    async look(mayHaveMissed) {
      looks += 1;
      if (!mayHaveMissed && looks % LOOKS_PER_CHECK !== 0) return false;
      const parked = waiters.listParked();
      if (parked.length === 0) return false;
      const rows = await listClaimStates(database.reader, groupAgents(parked));
      const states = new Map(rows.map((row) => [`${row.workspace_id} ${row.agent_id}`, row.state]));
      let newClaims = 0;
      for (const { workspaceId, agentId, signal, wake } of parked) {
        const state = states.get(`${workspaceId} ${agentId}`);
        const before = known.get(signal);
        if (state === undefined || state === before) continue;
        // A claim that began to wait while hints were lost is tried once more: what it saw may be
        // older than this first state of its agent.
        if (before === undefined && mayHaveMissed && ++newClaims > NEW_CLAIMS_MAX) continue;
        known.set(signal, state);
        if (before !== undefined || mayHaveMissed) wake(null);
      }
      return newClaims > NEW_CLAIMS_MAX;
    },
  };
}

function groupAgents(
  parked: readonly { workspaceId: string; agentId: string }[],
): Map<string, Set<string>> {
  const agents = new Map<string, Set<string>>();
  for (const { workspaceId, agentId } of parked) {
    const ids = agents.get(workspaceId) ?? new Set();
    agents.set(workspaceId, ids.add(agentId));
  }
  return agents;
}
