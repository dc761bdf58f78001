import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, pageOf } from '../http/paging.ts';
import type { HubDeps } from '../hub-deps.ts';
import { recordHeartbeat } from './heartbeat.ts';
import { presentAgent } from './present.ts';
import { listAgents } from './store.ts';

export function bindAgentRoutes(
  api: Api,
  deps: Pick<HubDeps, 'database' | 'ids' | 'waiters' | 'clock'>,
): void {
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
