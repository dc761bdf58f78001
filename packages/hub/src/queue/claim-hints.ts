import type { Hint } from '../cluster/hint-payload.ts';
import type { HintHandler } from '../cluster/hint-receiver.ts';
import type { Database } from '../db/engine.ts';
import type { ClaimWaiters } from './claim-waiters.ts';
import type { Queue } from './queue.ts';
import type { Wake } from './recent-wakes.ts';
import { listReadyLanes } from './store-lanes.ts';

/** An entry became ready in a lane, once for each entry. */
const LANE = 'lane';
/** An agent may be given other jobs now. */
const AGENT = 'agent';
/** Every claim of the workspace should be tried again. */
const CLAIMS = 'claims';

/** The hint for other hubs that have claims which this may wake. */
export function hintOfWake(wake: Wake): Hint {
  switch (wake.kind) {
    case 'lane':
      return { kind: LANE, id: wake.laneId };
    case 'agent':
      return { kind: AGENT, id: wake.agentId };
    case 'workspace':
      return { kind: CLAIMS, id: null };
  }
}

/** Wakes claims that wait on this hub for what other hubs made claimable. */
export function createClaimHintHandler({
  database,
  queue,
  waiters,
}: {
  database: Database;
  queue: Queue;
  waiters: ClaimWaiters;
}): HintHandler {
  return {
    async onWorkspaceHints(workspaceId, { ids, kinds }) {
      for (const agentId of Object.keys(ids[AGENT] ?? {})) {
        waiters.wakeAgentHere(workspaceId, agentId);
      }
      if (kinds.includes(CLAIMS)) waiters.wakeWorkspaceHere(workspaceId);
      const lanes = Object.entries(ids[LANE] ?? {});
      const laneIds = lanes.map(([laneId]) => laneId);
      await queue.learnLanes(database.reader, workspaceId, laneIds);
      for (const [laneId, ready] of lanes) waiters.wakeReady(workspaceId, laneId, ready);
    },
    /** In each lane, wakes as many claims as there are ready entries. */
    async look() {
      const workspaceIds = waiters.parkedWorkspaceIds();
      if (workspaceIds.length === 0) return false;
      const lanes = await listReadyLanes(database.reader, workspaceIds);
      const ofWorkspaces = Map.groupBy(lanes, (lane) => lane.workspace_id);
      for (const [workspaceId, own] of ofWorkspaces) {
        const laneIds = own.map((lane) => lane.lane_id);
        await queue.learnLanes(database.reader, workspaceId, laneIds);
      }
      for (const lane of lanes) waiters.wakeReady(lane.workspace_id, lane.lane_id, lane.ready);
      return false;
    },
  };
}
