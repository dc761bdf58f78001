import { listClaimStates } from '../agents/store-claim-states.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/engine.ts';
import type { Hints, WorkspaceHints } from '../db/hint-payload.ts';
import type { HubGroup } from '../db/hub-group.ts';
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
/** Claims of agents never looked at before that are tried once more, per look. */
const NEW_AGENTS_MAX = 200;
/** Agents remembered as they were; beyond this, all are looked at anew. */
const KNOWN_MAX = 50_000;

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
  /** Something was not told: the next look is a thorough one. */
  let isThorough = false;

  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    looks += 1;
    const thorough = isThorough || !group.isListening() || looks % STATES_EVERY_LOOKS === 0;
    isThorough = false;
    try {
      await Promise.all([wakeAnswered(deps), wakeForReady(deps), thorough && states.wakeChanged()]);
    } catch (error) {
      isThorough ||= thorough;
      throw error;
    } finally {
      isLooking = false;
    }
  }

  function hear(hints: Hints | null): void {
    if (hints === null || hints.tokens) deps.tokenCache.clearHere();
    if (hints === null || hints.more) isThorough = true;
    for (const [workspaceId, what] of Object.entries(hints?.workspaces ?? {})) {
      if (what.more) isThorough = true;
      wakeFor(deps, workspaceId, what).catch(onError);
    }
    if (isThorough && !isLooking) look().catch(onError);
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
  const workspaceIds = [...waiters.parkedAgents().keys()];
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
  #known = new Map<string, string>();

  constructor(deps: HintDeps) {
    this.#deps = deps;
  }

  async wakeChanged(): Promise<void> {
    const { database, waiters } = this.#deps;
    const parked = waiters.parkedAgents();
    if (parked.size === 0) return;
    // Between two claims, an agent does not wait; it is not new when it does again.
    const known = this.#known.size > KNOWN_MAX ? new Map<string, string>() : new Map(this.#known);
    let fresh = 0;
    for (const row of await listClaimStates(database.reader, parked)) {
      const key = `${row.workspace_id} ${row.agent_id}`;
      const before = this.#known.get(key);
      if (before === undefined && ++fresh > NEW_AGENTS_MAX) continue;
      known.set(key, row.state);
      if (before !== row.state) waiters.wakeAgentHere(row.workspace_id, row.agent_id);
    }
    this.#known = known;
  }
}
