import type { Wake } from '../db/hint-payload.ts';

interface Noted {
  version: number;
  wake: Wake;
}

/** The latest wakes of one workspace. */
interface Ring {
  /** The one numbered n, from 0, is at n modulo its length. */
  notes: Noted[];
  count: number;
  /** Of the latest that is in there no more. */
  droppedVersion: number;
  latestVersion: number;
}

/** Wakes remembered for each workspace: more than happen while one claim is tried. */
const NOTES_MAX = 256;
/** Workspaces remembered: of the others, a claim that was tried meanwhile is tried again. */
const WORKSPACES_MAX = 1_024;

/**
 * What happened lately, for claims that looked before it and wait after it. Bounded: what is
 * forgotten counts as a wake for whoever may have missed it.
 */
export class RecentWakes {
  readonly #rings = new Map<string, Ring>();
  #version = 0;
  #forgottenVersion = 0;

  /** Rises with every wake. */
  get version(): number {
    return this.#version;
  }

  note(workspaceId: string, wake: Wake): void {
    this.#version += 1;
    const version = this.#version;
    const ring = this.#rings.get(workspaceId) ?? this.#addRing(workspaceId);
    ring.latestVersion = version;
    const at = ring.count % NOTES_MAX;
    ring.count += 1;
    ring.droppedVersion = Math.max(ring.droppedVersion, ring.notes[at]?.version ?? 0);
    ring.notes[at] = { version, wake };
  }

  /** What a waiter would have been woken by since it took its mark. */
  findMissed(
    waiter: { workspaceId: string; agentId: string; suits(laneId: string): boolean },
    mark: number,
  ): { laneId: string | null } | null {
    const anything = { laneId: null };
    const ring = this.#rings.get(waiter.workspaceId);
    if (ring === undefined) return mark < this.#forgottenVersion ? anything : null;
    if (ring.latestVersion <= mark) return null;
    if (ring.droppedVersion > mark) return anything;
    for (let at = Math.max(0, ring.count - NOTES_MAX); at < ring.count; at++) {
      const noted = ring.notes[at % NOTES_MAX];
      if (noted === undefined || noted.version <= mark) continue;
      const { wake } = noted;
      if (wake.kind === 'lane' && waiter.suits(wake.laneId)) return { laneId: wake.laneId };
      if (wake.kind === 'agent' && wake.agentId === waiter.agentId) return anything;
      if (wake.kind === 'workspace') return anything;
    }
    return null;
  }

  #addRing(workspaceId: string): Ring {
    for (const [oldest, { latestVersion }] of this.#rings) {
      if (this.#rings.size < WORKSPACES_MAX) break;
      this.#rings.delete(oldest);
      this.#forgottenVersion = Math.max(this.#forgottenVersion, latestVersion);
    }
    // A workspace that was forgotten before may have had wakes that are not in its new ring.
    const ring = { notes: [], count: 0, droppedVersion: this.#forgottenVersion, latestVersion: 0 };
    this.#rings.set(workspaceId, ring);
    return ring;
  }
}
