import type { Principal } from '../principal.ts';

/** A job token covers the packs of its own run: they are made of what concerns that run. */
export function coversRun(principal: Principal, input: { runId: string }): boolean {
  return principal.job?.runId === input.runId;
}
