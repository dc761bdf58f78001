/** Agents: no page exists yet. */
export const agentRoutes = [] as const;
