import type { AgentCapabilities, ListedJob, WaitingReason } from '@signalbox/contract';
import { capabilitiesOf, pauseAt } from '../agents/present.ts';
import { listAgentsNow } from '../agents/store.ts';
import { timestampOf } from '../base/clock.ts';
import type { Hold } from '../queue/entry.ts';
import { meetsNeeds, type Needs } from '../queue/matching.ts';
import { PINNED_UNTIL_MS } from '../queue/store.ts';
import { readRequirements } from '../queue/store-lanes.ts';
import { countRunningByAgent } from '../queue/store-waiting.ts';
import { listNamedRepositories, listRepositoriesById } from '../repositories/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';
import type { JobSummaryRow } from './store-whole.ts';

/*
 * The reasons why the pending jobs of a page wait, in a few statements for the whole page. They are
 * those of `explainWaiting`, which explains one job in full.
 */

/** Agents compared with the jobs of a page. With more online, a suitable one is taken to exist. */
const AGENTS_MAX = 1_000;

const reasonOfHold: Record<Exclude<Hold, 'ready'>, WaitingReason> = {
  dependencies: 'dependencies',
  delayed: 'not_yet_available',
  preferred: 'not_yet_available',
  key: 'concurrency_key',
};

/** The columns that explain why a pending job waits. */
export type PendingRow = Pick<
  JobSummaryRow,
  'job_id' | 'repo_id' | 'lane_id' | 'hold' | 'available_at' | 'prefer_until'
>;

/** The fields of a summary that say why its job waits. */
type Explanation = Pick<ListedJob, 'waitingReason' | 'availableAt'>;

/** Explains why each of some pending jobs waits, by their ids. */
export async function explainPage(
  deps: Pick<HubDeps, 'database' | 'clock'>,
  workspaceId: string,
  rows: readonly PendingRow[],
): Promise<ReadonlyMap<string, Explanation>> {
  const reasons = new Map<string, Explanation>();
  const ready: PendingRow[] = [];
  for (const row of rows) {
    if (row.hold === null || row.hold === 'ready') ready.push(row);
    else reasons.set(row.job_id, explainHold(row, row.hold));
  }
  if (ready.length === 0) return reasons;
  const { reader } = deps.database;
  const [workspace, repositories] = await Promise.all([
    readWorkspace(reader, workspaceId),
    listRepositoriesById(reader, workspaceId, distinct(ready, 'repo_id')),
  ]);
  const byId = new Map(repositories.map((row) => [row.repo_id, row]));
  const claimable: PendingRow[] = [];
  for (const row of ready) {
    const repository = byId.get(row.repo_id);
    const isPaused = workspace?.queue_paused_at != null || repository?.queue_paused_at != null;
    if (isPaused) reasons.set(row.job_id, { waitingReason: 'queue_paused' });
    else if (repository?.status !== 'archived') claimable.push(row);
    else reasons.set(row.job_id, { waitingReason: 'repository_archived' });
  }
  if (claimable.length === 0) return reasons;
  const ofLanes = await explainLanes(deps, workspaceId, claimable);
  for (const row of claimable) {
    reasons.set(row.job_id, { waitingReason: ofLanes.get(row.lane_id) ?? 'queue_position' });
  }
  return reasons;
}

function explainHold(row: PendingRow, hold: Exclude<Hold, 'ready'>): Explanation {
  const isPinned = hold === 'preferred' && row.prefer_until === PINNED_UNTIL_MS;
  if (isPinned) return { waitingReason: 'agent_with_branch' };
  const waitingReason = reasonOfHold[hold];
  return hold === 'delayed'
    ? { waitingReason, availableAt: timestampOf(row.available_at) }
    : { waitingReason };
}

interface ComparedAgent {
  agentId: string;
  tokenId: string;
  capabilities: AgentCapabilities;
}

/** Why no online agent could claim from a lane now. Lanes of which one could are left out. */
async function explainLanes(
  { database: { reader }, clock }: Pick<HubDeps, 'database' | 'clock'>,
  workspaceId: string,
  rows: readonly PendingRow[],
): Promise<ReadonlyMap<string, WaitingReason>> {
  const nowMs = clock.nowMs();
  const [lanes, agentRows] = await Promise.all([
    readRequirements(reader, workspaceId, distinct(rows, 'lane_id')),
    listAgentsNow(reader, workspaceId, 'online', { nowMs, limit: AGENTS_MAX + 1 }),
  ]);
  if (agentRows.length > AGENTS_MAX) return new Map();
  const agents = agentRows.map((row) => ({
    agentId: row.agent_id,
    tokenId: row.token_id,
    capabilities: capabilitiesOf(row),
  }));
  const tokenIds = [...new Set(agents.map(({ tokenId }) => tokenId))];
  const [named, running] = await Promise.all([
    listNamedRepositories(reader, workspaceId, tokenIds, distinct(rows, 'repo_id')),
    countRunningByAgent(reader, workspaceId),
  ]);
  const namedByToken = new Set(named.map((row) => `${row.token_id} ${row.repo_id}`));
  const reasons = new Map<string, WaitingReason>();
  for (const lane of lanes) {
    // Requirements above the limit of length are met by no agent.
    const needs = lane.requirements === null ? null : (JSON.parse(lane.requirements) as Needs);
    const { repo_id: repoId } = lane;
    const serving = agents.filter(
      ({ capabilities, tokenId }) =>
        capabilities.reposAllowed?.includes(repoId) ?? namedByToken.has(`${tokenId} ${repoId}`),
    );
    const reason = explainLane(serving, needs, { repoId, running, nowMs });
    if (reason !== null) reasons.set(lane.lane_id, reason);
  }
  return reasons;
}

function explainLane(
  serving: readonly ComparedAgent[],
  needs: Needs | null,
  {
    repoId,
    running,
    nowMs,
  }: { repoId: string; running: ReadonlyMap<string, number>; nowMs: number },
): WaitingReason | null {
  if (serving.length === 0) return 'no_agent_serves_repository';
  const capable = serving.filter(
    ({ capabilities }) => needs !== null && meetsNeeds(capabilities, needs, repoId),
  );
  if (capable.length === 0) return 'no_agent_with_capabilities';
  const claiming = capable.filter(
    ({ capabilities }) => pauseAt(capabilities, repoId, nowMs) === null,
  );
  if (claiming.length === 0) return 'agents_paused';
  const hasRoom = claiming.some(({ agentId, capabilities: { maxConcurrentJobs: most } }) => {
    return most === undefined || (running.get(agentId) ?? 0) < most;
  });
  return hasRoom ? null : 'agents_at_capacity';
}

function distinct<Name extends 'repo_id' | 'lane_id'>(
  rows: readonly PendingRow[],
  name: Name,
): string[] {
  return [...new Set(rows.map((row) => row[name]))];
}
