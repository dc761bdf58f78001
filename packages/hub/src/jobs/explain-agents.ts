import {
  type Job,
  WAITING_AGENTS_MAX,
  type WaitingAgent,
  type WaitingFor,
} from '@signalbox/contract';
import { capabilitiesOf, pauseAt } from '../agents/present.ts';
import { type AgentRow, listAgentsNow } from '../agents/store.ts';
import type { Reader } from '../db/engine.ts';
import { describeLacking, describeNeeds, meetsNeeds, needsOf } from '../queue/matching.ts';
import { countRunningByAgent } from '../queue/store-waiting.ts';
import { hasTokenRepository } from '../repositories/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { JobRecord } from './require-job.ts';

type JobPlace = Pick<JobRecord['row'], 'workspace_id' | 'repo_id' | 'kind' | 'requirements'>;

/** Explains why no online agent could claim a job now; null when one could. */
export async function explainAgents(
  { database: { reader }, clock }: Pick<HubDeps, 'database' | 'clock'>,
  place: JobPlace,
): Promise<WaitingFor | null> {
  const nowMs = clock.nowMs();
  const online = await listAgentsNow(reader, place.workspace_id, 'online', { nowMs });
  const serving = await findServing(reader, place, online);
  if (serving.length === 0) return explainNoneServing(reader, place, nowMs);
  const requirements: unknown = place.requirements === null ? null : JSON.parse(place.requirements);
  const needs = needsOf(place.kind as Job['kind'], requirements);
  const capable = serving.filter((agent) =>
    meetsNeeds(capabilitiesOf(agent), needs, place.repo_id),
  );
  if (capable.length === 0) {
    return {
      reason: 'no_agent_with_capabilities',
      message: `No online agent that serves its repository has: ${describeNeeds(needs).join('; ')}.`,
      agents: nameAgents(serving, (agent) => ({
        obstacle: `lacks ${describeLacking(capabilitiesOf(agent), needs, place.repo_id).join('; ')}`,
      })),
    };
  }
  return explainNoneFree(reader, place, capable, nowMs);
}

/** Why none of the agents that could do the job claims it; null when one could now. */
async function explainNoneFree(
  reader: Reader,
  { workspace_id: workspaceId, repo_id: repoId }: JobPlace,
  capable: readonly AgentRow[],
  nowMs: number,
): Promise<WaitingFor | null> {
  let running: ReadonlyMap<string, number> | null = null;
  const obstacles = new Map<string, Pick<WaitingAgent, 'obstacle' | 'until'>>();
  const ends: string[] = [];
  for (const agent of capable) {
    const capabilities = capabilitiesOf(agent);
    const pause = pauseAt(capabilities, repoId, nowMs);
    const most = capabilities.maxConcurrentJobs;
    if (pause !== null) {
      ends.push(pause.until);
      obstacles.set(agent.agent_id, { obstacle: `paused: ${pause.message}`, until: pause.until });
      continue;
    }
    if (most === undefined) return null;
    // One query counts the running jobs of all agents.
    running ??= await countRunningByAgent(reader, workspaceId);
    const held = running.get(agent.agent_id) ?? 0;
    if (held < most) return null;
    obstacles.set(agent.agent_id, { obstacle: `holds ${held} of ${most} jobs` });
  }
  const agents = nameAgents(capable, (agent) => obstacles.get(agent.agent_id) ?? { obstacle: '' });
  const [until] = ends.toSorted((a, b) => Date.parse(a) - Date.parse(b));
  if (until === undefined || ends.length < capable.length) {
    const what = until === undefined ? 'busy' : 'busy or paused';
    const message = `Every agent that could claim it is ${what}.`;
    return { reason: 'agents_at_capacity', message, agents };
  }
  const message = `Every agent that could claim it is paused, at least until ${until}.`;
  return { reason: 'agents_paused', message, agents, until };
}

/** No online agent serves the repository: names those that drain. */
async function explainNoneServing(
  reader: Reader,
  place: JobPlace,
  nowMs: number,
): Promise<WaitingFor> {
  const draining = await findServing(
    reader,
    place,
    await listAgentsNow(reader, place.workspace_id, 'draining', { nowMs }),
  );
  const reason = 'no_agent_serves_repository';
  if (draining.length === 0) {
    const message =
      'No online agent serves its repository: start or resume one, or link the repository.';
    return { reason, message };
  }
  return {
    reason,
    message: 'The agents that serve its repository drain: resume one, or start another.',
    agents: nameAgents(draining, () => ({ obstacle: 'drains: it takes no more jobs' })),
  };
}

/** The agents that serve the repository of the job. Agents of one token share a look-up. */
async function findServing(
  reader: Reader,
  { workspace_id: workspaceId, repo_id: repoId }: JobPlace,
  agents: readonly AgentRow[],
): Promise<AgentRow[]> {
  const byToken = new Map<string, boolean>();
  const serving: AgentRow[] = [];
  for (const agent of agents) {
    const named = capabilitiesOf(agent).reposAllowed?.includes(repoId);
    const { token_id: tokenId } = agent;
    const serves =
      named ??
      byToken.get(tokenId) ??
      (await hasTokenRepository(reader, workspaceId, tokenId, repoId));
    if (named === undefined) byToken.set(tokenId, serves);
    if (serves) serving.push(agent);
  }
  return serving;
}

function nameAgents(
  agents: readonly AgentRow[],
  obstacleOf: (agent: AgentRow) => Pick<WaitingAgent, 'obstacle' | 'until'>,
): WaitingAgent[] {
  const oldestFirst = agents.toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
  return oldestFirst.slice(0, WAITING_AGENTS_MAX).map((agent) => ({
    agentId: agent.agent_id,
    displayName: agent.display_name,
    ...obstacleOf(agent),
  }));
}
