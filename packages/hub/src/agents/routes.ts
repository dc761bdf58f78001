import { endpoints } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Api } from '../http/bind.ts';
import { decodeCursor, pageOf } from '../http/paging.ts';
import { type AgentDeps, recordHeartbeat } from './heartbeat.ts';
import { presentAgent } from './present.ts';
import { listAgents } from './store.ts';

export function bindAgentRoutes(api: Api, deps: AgentDeps & { clock: Clock }): void {
  const { agents } = endpoints;
  api.bind(agents.heartbeat, (input, { principal }) => recordHeartbeat(deps, principal, input));
  api.bind(agents.list, async (input) => {
    const before = decodeCursor(input.cursor, 'agent');
    const rows = await listAgents(deps.database, input.workspaceId, { limit: input.limit, before });
    const page = pageOf(rows, input.limit, (row) => row.agent_id);
    const nowMs = deps.clock.nowMs();
    return {
      agents: page.items.map((row) => presentAgent(row, nowMs)),
      nextCursor: page.nextCursor,
    };
  });
}
