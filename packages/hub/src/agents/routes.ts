import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { commandAgent } from './command.ts';
import { recordHeartbeat } from './heartbeat.ts';
import { type AgentReadDeps, describeAgent, listAgentPage } from './read.ts';

export function bindAgentRoutes(api: Api, deps: AgentReadDeps & Pick<HubDeps, 'ids'>): void {
  const { agents } = endpoints;
  api.bind(agents.heartbeat, (input, { principal }) => recordHeartbeat(deps, principal, input));
  api.bind(agents.list, (input) => listAgentPage(deps, input));
  api.bind(agents.get, async ({ workspaceId, agentId }) => {
    const { reader } = deps.database;
    const nowMs = deps.clock.nowMs();
    return { agent: await describeAgent(deps, reader, workspaceId, agentId, nowMs) };
  });
  api.bind(agents.command, async (input, { principal }) => ({
    agent: await commandAgent(deps, principal, input),
  }));
}
