/** The page that a workspace opens with. */
export const workspaceHome = '/w/$slug/jobs';
