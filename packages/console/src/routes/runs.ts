/** Runs: no page exists yet. */
export const runRoutes = [] as const;
