import { BoundedMap } from '../base/bounded-map.ts';

/** After a claim found nothing due in a workspace, claims look no more for this long. */
const INTERVAL_MS = 100;
const WORKSPACES_MAX = 1_024;

/**
 * When claims last looked for expired leases and delays in vain, by workspace. A look reads all
 * running entries, so a fleet of idle agents must not look with each claim. What becomes due in
 * between is found by the next look, or by the sweeper.
 */
export class DueLooks {
  readonly #vainAtMs = new BoundedMap<string, number>(WORKSPACES_MAX);

  isNeeded(workspaceId: string, nowMs: number): boolean {
    const atMs = this.#vainAtMs.get(workspaceId);
    // A clock that was set back must not end the looks.
    return atMs === undefined || nowMs < atMs || nowMs >= atMs + INTERVAL_MS;
  }

  noteVain(workspaceId: string, nowMs: number): void {
    this.#vainAtMs.set(workspaceId, nowMs);
  }
}
