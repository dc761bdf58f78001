import type { Principal } from '../principal.ts';

/**
 * Whether a completion may reach a repository and a run. With a job token these must be the job's
 * own: the tool that runs one job must not set agents to work elsewhere.
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

/** Whether the caller may take a job from its holder: people may, programs may not. */
export function mayRelease(principal: Principal): boolean {
  return principal.kind !== 'service' && principal.kind !== 'job';
}
