/** Repositories: no page exists yet. */
export const repositoryRoutes = [] as const;
