import { createRoute } from '@tanstack/react-router';
import { agentGroupQuery, agentQuery } from '../api/fleet-queries.ts';
import { repositoriesQuery } from '../api/job-queries.ts';
import { readFirst, readFirstPage } from '../api/read-first.ts';
import { lazyPage } from './lazy-page.ts';
import { workspaceRoute } from './workspace.ts';

const agentsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/agents',
  loader: ({ context: { client, membership } }) => {
    const { workspaceId } = membership;
    void readFirst(client, repositoriesQuery(workspaceId));
    for (const status of ['draining', 'offline'] as const) {
      void readFirstPage(client, agentGroupQuery(workspaceId, [status]));
    }
    return readFirstPage(client, agentGroupQuery(workspaceId, ['online']));
  },
  component: lazyPage(() => import('../pages/agents.tsx'), 'AgentsPage'),
});

const agentRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/agents/$agentId',
  loader: ({ context: { client, membership }, params }) =>
    readFirst(client, agentQuery(membership.workspaceId, params.agentId)),
  component: lazyPage(() => import('../pages/agent.tsx'), 'AgentPage'),
});

export const agentRoutes = [agentsRoute, agentRoute] as const;
