import type { Principal } from '../principal.ts';

/**
 * What a completion reaches beyond its job. A job token's stays in the job's own repository and
 * run: the tool that runs one job must not set agents to work elsewhere.
 */
export function mayReach(
  principal: Principal,
  own: { repo_id: string; run_id: string | null },
  reached: { repoId?: string | undefined; runId?: string | undefined },
): boolean {
  if (principal.job === null) return true;
  const { repoId = own.repo_id, runId = own.run_id } = reached;
  return repoId === own.repo_id && runId === own.run_id;
}

/** Taking a job from its holder is a person's act, not a program's. */
export function mayRelease(principal: Principal): boolean {
  return principal.kind !== 'service' && principal.kind !== 'job';
}
