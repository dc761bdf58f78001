import { listClaimStates } from '../agents/store-claim-states.ts';
import type { Clock } from '../clock.ts';
import type { Hints, WorkspaceHints } from '../cluster/hint-payload.ts';
import type { HubGroup } from '../cluster/hub-group.ts';
import type { Database } from '../db/engine.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import type { Queue } from '../queue/queue.ts';
import { listReadyLanes } from '../queue/ready-lanes.ts';
import type { TokenCache } from '../tokens/cache.ts';
import type { DecisionWaiters } from '../uncertainties/decision-waiters.ts';
import { listNotOpen } from '../uncertainties/store.ts';
import { createLoop, type Loop } from './loop.ts';

/** A claim that no hint has reached is answered within a second. */
const LOOK_INTERVAL_MS = 500;
/** While hints are heard, one is lost only with the hub that was about to send it. */
const STATES_EVERY_LOOKS = 10;
/** Claims that are tried once more, per look, because they may have missed something. */
const NEW_CLAIMS_MAX = 200;

export interface HintDeps {
  database: Database;
  clock: Clock;
  queue: Queue;
  waiters: ClaimWaiters;
  decisionWaiters: DecisionWaiters;
}

export interface HintReceiver {
  /** Takes what another hub told; null: anything may have happened. */
  hear(hints: Hints | null): void;
  /** Looks for what was not heard, for all that wait on this hub together. */
  readonly loop: Loop<void>;
}

/**
 * Wakes those who wait on this hub for what happened on others. Hints make it quick; looking makes
 * it certain. A hub on which nobody waits asks the database nothing.
 */
export function createHintReceiver(
  deps: HintDeps & { tokenCache: Pick<TokenCache, 'clearHere'> },
  group: Pick<HubGroup, 'isListening'>,
  onError: (error: unknown) => void,
): HintReceiver {
  const states = new AgentStates(deps);
  let looks = 0;
  /** Something was not told: the next look finds out what. */
  let hasMissed = false;
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    looks += 1;
    const isDeaf = hasMissed || !group.isListening();
    hasMissed = false;
    const wakeChanged = async () => {
      if (!isDeaf && looks % STATES_EVERY_LOOKS !== 0) return;
      if (await states.wakeChanged(isDeaf)) hasMissed = true;
    };
    try {
      await Promise.all([wakeAnswered(deps), wakeForReady(deps), wakeChanged()]);
    } catch (error) {
      hasMissed ||= isDeaf;
      throw error;
    } finally {
      isLooking = false;
    }
  }

  function hear(hints: Hints | null): void {
    if (hints === null || hints.tokens) deps.tokenCache.clearHere();
    if (hints === null || hints.more) hasMissed = true;
    for (const [workspaceId, what] of Object.entries(hints?.workspaces ?? {})) {
      if (what.more) hasMissed = true;
      wakeFor(deps, workspaceId, what).catch(onError);
    }
    if (hasMissed && !isLooking) look().catch(onError);
  }

  const loop = createLoop({
    name: 'hub-hints',
    intervalMs: LOOK_INTERVAL_MS,
    clock: deps.clock,
    work: look,
    hasMore: () => false,
    onError,
  });
  return { hear, loop };
}

async function wakeFor(
  { database, queue, waiters, decisionWaiters }: HintDeps,
  workspaceId: string,
  { lanes, agents, uncertainties, all }: WorkspaceHints,
): Promise<void> {
  for (const uncertaintyId of uncertainties) decisionWaiters.wakeHere(workspaceId, uncertaintyId);
  for (const agentId of agents) waiters.wakeAgentHere(workspaceId, agentId);
  if (all) waiters.wakeWorkspaceHere(workspaceId);
  const told = Object.entries(lanes).map(([lane_id, ready]) => ({
    workspace_id: workspaceId,
    lane_id,
    ready,
  }));
  await queue.learnLanes(database.reader, told);
  for (const { lane_id, ready } of told) waiters.wakeReady(workspaceId, lane_id, ready);
}

/** Wakes, in each lane that suits, as many claims as there are entries. */
async function wakeForReady({ database, queue, waiters }: HintDeps): Promise<void> {
  const workspaceIds = waiters.parkedWorkspaceIds();
  if (workspaceIds.length === 0) return;
  const lanes = await listReadyLanes(database.reader, workspaceIds);
  await queue.learnLanes(database.reader, lanes);
  for (const lane of lanes) waiters.wakeReady(lane.workspace_id, lane.lane_id, lane.ready);
}

async function wakeAnswered({ database, decisionWaiters }: HintDeps): Promise<void> {
  const parked = decisionWaiters.parkedIds();
  if (parked.length === 0) return;
  for (const row of await listNotOpen(database.reader, parked)) {
    decisionWaiters.wakeHere(row.workspace_id, row.uncertainty_id);
  }
}

/**
 * What the agents of claims that wait here were when they were last looked at, to find those that
 * may be given other jobs now: one that has room again, or whose queue goes on.
 */
class AgentStates {
  readonly #deps: HintDeps;
  /** By the claims' requests. */
  readonly #known = new WeakMap<AbortSignal, string>();

  constructor(deps: HintDeps) {
    this.#deps = deps;
  }

  /**
   * @param isDeaf whether claims that were not looked at before may have missed something: they
   *   are tried once more, after the look that later ones are held against.
   * @returns whether some of those are left.
   */
  async wakeChanged(isDeaf: boolean): Promise<boolean> {
    const { database, waiters } = this.#deps;
    const parked = waiters.listParked();
    if (parked.length === 0) return false;
    const rows = await listClaimStates(database.reader, groupAgents(parked));
    const states = new Map(rows.map((row) => [`${row.workspace_id} ${row.agent_id}`, row.state]));
    let fresh = 0;
    for (const { workspaceId, agentId, signal, wake } of parked) {
      const state = states.get(`${workspaceId} ${agentId}`);
      const before = this.#known.get(signal);
      if (state === undefined || state === before) continue;
      if (before === undefined && isDeaf && ++fresh > NEW_CLAIMS_MAX) continue;
      this.#known.set(signal, state);
      if (before !== undefined || isDeaf) wake(null);
    }
    return fresh > NEW_CLAIMS_MAX;
  }
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
