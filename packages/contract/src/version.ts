/**
 * The version of every package, as programs say it. The manifests have the same, for npm's bill of
 * materials: `npm version NEXT --workspaces --include-workspace-root --no-git-tag-version`.
 */
export const VERSION = '0.1.0';
