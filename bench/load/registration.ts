import { endpoints } from '@signalbox/contract';
import { readField } from './answer-reader.ts';
import type { Connection, Target } from './connection.ts';
import { type Queue, requireOk } from './hub-calls.ts';
import type { LoadAgent } from './load-report.ts';
import { formatPost } from './request-text.ts';

/** The hub and the tokens of many agents. */
export interface AgentWorld extends Queue {
  readonly target: Target;
  readonly tokens: readonly string[];
}

/** The heartbeat of an agent, which registers it when it is sent for the first time. */
export function formatBeat(
  { workspaceId, repoId, tokens, target }: AgentWorld,
  at: number,
  name: string,
): string {
  const body = {
    workspaceId,
    displayName: `${name} ${at}`,
    machineFingerprint: `${name} ${at}`,
    capabilities: { canWrite: true, reposAllowed: [repoId], maxConcurrentJobs: 1 },
  };
  const token = tokens[at % tokens.length] ?? '';
  return formatPost(target, endpoints.agents.heartbeat.path, token, JSON.stringify(body));
}

/** Registers all agents by their first heartbeat. */
export async function registerAll(
  { tokens }: Pick<AgentWorld, 'tokens'>,
  connections: readonly Connection[],
  beats: readonly string[],
): Promise<LoadAgent[]> {
  const agents: LoadAgent[] = [];
  let next = 0;
  const register = async (connection: Connection) => {
    while (next < beats.length) {
      const at = next++;
      const answer = await requireOk(connection, beats[at] ?? '', 'first heartbeat');
      const agentId = readField(answer, 'agentId');
      if (agentId === null) throw new Error(`a heartbeat without an agent: ${answer}`);
      agents[at] = { agentId, token: tokens[at % tokens.length] ?? '' };
    }
  };
  await Promise.all(connections.map(register));
  return agents;
}
