import type { Agent, AgentStatus, endpoints, RequestInput } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { decodeCursor, type Page, pageOf } from '../http/paging.ts';
import { type HeldEntry, listRunningOfAgents } from '../queue/store-held.ts';
import { listTokenRepositories, listTokensOfRepository } from '../repositories/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { type AgentParts, capabilitiesOf, presentAgent } from './present.ts';
import { type AgentRow, countAgents, listAgents, readAgent } from './store.ts';

export interface AgentReadDeps extends Pick<HubDeps, 'database' | 'clock' | 'waiters'> {
  /** Titles of jobs by id. Given in `app.ts`, since jobs import agents. */
  readJobTitles(
    reader: Reader,
    workspaceId: string,
    jobIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
}

type ListInput = RequestInput<typeof endpoints.agents.list.request>;

/** A page of agents with what they hold and serve, in a fixed number of statements. */
export async function listAgentPage(
  deps: AgentReadDeps,
  { workspaceId, limit, cursor, statuses, repoId }: ListInput,
): Promise<{ agents: Agent[]; counts: Record<AgentStatus, number>; nextCursor: string | null }> {
  const { reader } = deps.database;
  const before = decodeCursor(cursor, 'agent');
  const nowMs = deps.clock.nowMs();
  const servedBy =
    repoId === undefined
      ? undefined
      : { repoId, tokenIds: await listTokensOfRepository(reader, workspaceId, repoId) };
  const [rows, counted] = await Promise.all([
    listAgents(reader, workspaceId, { statuses, servedBy }, { nowMs, limit, before }),
    countAgents(reader, workspaceId, nowMs),
  ]);
  const page: Page<AgentRow> = pageOf(rows, limit, (row) => row.agent_id);
  const countOf = (status: AgentStatus) => counted.get(status) ?? 0;
  return {
    agents: await describe(deps, reader, workspaceId, page.items, nowMs),
    counts: {
      online: countOf('online'),
      draining: countOf('draining'),
      offline: countOf('offline'),
    },
    nextCursor: page.nextCursor,
  };
}

/** @throws HubError AGENT_NOT_FOUND */
export async function describeAgent(
  deps: AgentReadDeps,
  reader: Reader,
  workspaceId: string,
  agentId: string,
  nowMs: number,
): Promise<Agent> {
  const row = await readAgent(reader, workspaceId, agentId);
  const rows = row === undefined ? [] : [row];
  const [agent] = await describe(deps, reader, workspaceId, rows, nowMs);
  if (agent === undefined)
    throw new HubError('AGENT_NOT_FOUND', 'No such agent in this workspace.');
  return agent;
}

async function describe(
  { readJobTitles }: AgentReadDeps,
  reader: Reader,
  workspaceId: string,
  rows: readonly AgentRow[],
  nowMs: number,
): Promise<Agent[]> {
  if (rows.length === 0) return [];
  const agentIds = rows.map((row) => row.agent_id);
  const tokenIds = rows
    .filter((row) => capabilitiesOf(row).reposAllowed === undefined)
    .map((row) => row.token_id);
  const [entries, served] = await Promise.all([
    listRunningOfAgents(reader, workspaceId, agentIds),
    tokenIds.length === 0 ? [] : listTokenRepositories(reader, workspaceId, tokenIds),
  ]);
  const jobIds = entries.filter(isJob).map((entry) => entry.entry_id);
  const titles = jobIds.length === 0 ? null : await readJobTitles(reader, workspaceId, jobIds);
  const heldBy = Map.groupBy(entries, (entry) => entry.agent_id);
  const reposOf = Map.groupBy(served, (row) => row.token_id);
  return rows.map((row) => {
    const held = heldBy.get(row.agent_id) ?? [];
    const parts: AgentParts = {
      repoIds:
        capabilitiesOf(row).reposAllowed ??
        (reposOf.get(row.token_id) ?? []).map(({ repo_id }) => repo_id),
      held: held.filter(isJob).map((entry) => ({
        jobId: entry.entry_id,
        title: titles?.get(entry.entry_id) ?? '',
        startedAt: entry.started_at === null ? null : timestampOf(entry.started_at),
      })),
      heldCount: held[0]?.held ?? 0,
    };
    return presentAgent(row, parts, nowMs);
  });
}

function isJob({ queue }: HeldEntry): boolean {
  return queue === 'jobs';
}
