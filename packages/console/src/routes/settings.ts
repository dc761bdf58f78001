/** Settings: no page exists yet. */
export const settingsRoutes = [] as const;
