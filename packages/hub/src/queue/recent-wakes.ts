import type { Wake } from '../db/hint-payload.ts';

interface Noted {
  version: number;
  wake: Wake;
  /** How many waits it may still end. */
  left: number;
}

/** The latest wakes of one workspace. */
interface Recent {
  /** By what they are for, oldest first. */
  notes: Map<string, Noted>;
  /** Of the latest that was forgotten. */
  droppedVersion: number;
  latestVersion: number;
}

/** Lanes and agents remembered for each workspace: more than change while one claim is tried. */
const NOTES_MAX = 256;
/** Workspaces remembered: of the others, a claim that was tried meanwhile is tried again. */
const WORKSPACES_MAX = 1_024;

/**
 * What happened lately and found nobody waiting, for claims that looked before it and wait after
 * it. One job that became ready ends one wait: if it ended all of them, then where very many claims
 * are being tried each job would have all of them tried again, and they would never come to rest.
 *
 * Bounded: what is forgotten counts as a wake for whoever may have missed it.
 */
export class RecentWakes {
  readonly #workspaces = new Map<string, Recent>();
  #version = 0;
  #forgottenVersion = 0;

  /** Rises with every wake. */
  get version(): number {
    return this.#version;
  }

  /** @param left how many waits it may end; without it, all. */
  note(workspaceId: string, wake: Wake, left = Number.POSITIVE_INFINITY): void {
    if (left <= 0) return;
    this.#version += 1;
    const recent = this.#workspaces.get(workspaceId) ?? this.#add(workspaceId);
    recent.latestVersion = this.#version;
    const { notes } = recent;
    const key = keyOf(wake);
    const before = notes.get(key)?.left ?? 0;
    // Put at the end.
    notes.delete(key);
    notes.set(key, { version: this.#version, wake, left: before + left });
    for (const [oldest, { version }] of notes) {
      if (notes.size <= NOTES_MAX) break;
      notes.delete(oldest);
      recent.droppedVersion = version;
    }
  }

  /** What a waiter would have been woken by since it took its mark; nobody else is, instead. */
  takeMissed(
    waiter: { workspaceId: string; agentId: string; suits(laneId: string): boolean },
    mark: number,
  ): { laneId: string | null } | null {
    const anything = { laneId: null };
    const recent = this.#workspaces.get(waiter.workspaceId);
    if (recent === undefined) return mark < this.#forgottenVersion ? anything : null;
    if (recent.latestVersion <= mark) return null;
    if (recent.droppedVersion > mark) return anything;
    for (const [key, noted] of recent.notes) {
      if (noted.version <= mark) continue;
      const { wake } = noted;
      if (wake.kind === 'agent' && wake.agentId !== waiter.agentId) continue;
      if (wake.kind === 'lane' && !waiter.suits(wake.laneId)) continue;
      noted.left -= 1;
      if (noted.left <= 0) recent.notes.delete(key);
      return { laneId: wake.kind === 'lane' ? wake.laneId : null };
    }
    return null;
  }

  #add(workspaceId: string): Recent {
    for (const [oldest, { latestVersion }] of this.#workspaces) {
      if (this.#workspaces.size < WORKSPACES_MAX) break;
      this.#workspaces.delete(oldest);
      this.#forgottenVersion = Math.max(this.#forgottenVersion, latestVersion);
    }
    // A workspace that was forgotten before may have had wakes that are not kept any more.
    const droppedVersion = this.#forgottenVersion;
    const recent = { notes: new Map(), droppedVersion, latestVersion: 0 };
    this.#workspaces.set(workspaceId, recent);
    return recent;
  }
}

function keyOf(wake: Wake): string {
  if (wake.kind === 'lane') return `lane ${wake.laneId}`;
  return wake.kind === 'agent' ? `agent ${wake.agentId}` : 'workspace';
}
