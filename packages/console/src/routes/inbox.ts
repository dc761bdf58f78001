/** The inbox of open decision requests: no page exists yet. */
export const inboxRoutes = [] as const;
