/**
 * Something that may end the wait of claims: an entry ready in a lane, an agent that may be given
 * other jobs, or any change in the workspace.
 */
export type Wake =
  | { kind: 'lane'; laneId: string }
  | { kind: 'agent'; agentId: string }
  | { kind: 'workspace' };

interface Noted {
  wake: Wake;
  /**
   * When it happened, ascending. A lane has one version for each wait that the wake may still end.
   */
  versions: number[];
}

/** The latest wakes of one workspace. */
interface Recent {
  /** Keyed by target, oldest first. */
  notes: Map<string, Noted>;
  /** The version of the latest wake that was dropped. */
  droppedVersion: number;
  latestVersion: number;
}

/** Lanes and agents remembered for each workspace: more than change during one claim attempt. */
const NOTES_MAX = 256;
/** Wakes remembered for each lane. */
const VERSIONS_MAX = 2_048;
/** Workspaces remembered; claims in other workspaces look once more before they wait. */
const WORKSPACES_MAX = 1_024;

/**
 * Recent wakes that found no waiter, for claims that looked at the queue before the wake and start
 * to wait after it. One ready job ends one wait. If it ended all of them, each job would make every
 * claim look again, and with many claims they would never settle.
 *
 * Bounded: a dropped wake counts as a wake for every waiter that may have missed it.
 */
export class RecentWakes {
  readonly #workspaces = new Map<string, Recent>();
  #version = 0;
  #forgottenVersion = 0;

  /** Rises with every wake. */
  get version(): number {
    return this.#version;
  }

  /** @param count how many waits the wake of a lane may end; other wakes end all of them. */
  note(workspaceId: string, wake: Wake, count = 1): void {
    if (count <= 0) return;
    this.#version += 1;
    const recent = this.#workspaces.get(workspaceId) ?? this.#add(workspaceId);
    recent.latestVersion = this.#version;
    const { notes } = recent;
    const key = keyOf(wake);
    const versions = wake.kind === 'lane' ? (notes.get(key)?.versions ?? []) : [];
    for (let at = 0; at < count; at++) versions.push(this.#version);
    // Drops half at once, so that the cost of a wake stays constant when no claim ever waits.
    if (versions.length > VERSIONS_MAX) forget(recent, versions.splice(0, VERSIONS_MAX / 2));
    // Moves the note to the end.
    notes.delete(key);
    notes.set(key, { wake, versions });
    for (const [oldest, noted] of notes) {
      if (notes.size <= NOTES_MAX) break;
      notes.delete(oldest);
      forget(recent, noted.versions);
    }
  }

  /** The wake that a waiter missed since it took its mark. It ends no other wait. */
  takeMissed(
    waiter: { workspaceId: string; agentId: string; suits(laneId: string): boolean },
    mark: number,
  ): { laneId: string | null } | null {
    const anything = { laneId: null };
    const recent = this.#workspaces.get(waiter.workspaceId);
    if (recent === undefined) return mark < this.#forgottenVersion ? anything : null;
    if (recent.latestVersion <= mark) return null;
    if (recent.droppedVersion > mark) return anything;
    for (const { wake, versions } of recent.notes.values()) {
      // The first since the mark: later versions also serve waiters with a later mark.
      const at = versions.findIndex((version) => version > mark);
      if (at === -1) continue;
      if (wake.kind === 'agent' && wake.agentId !== waiter.agentId) continue;
      if (wake.kind !== 'lane') return anything;
      if (!waiter.suits(wake.laneId)) continue;
      versions.splice(at, 1);
      return { laneId: wake.laneId };
    }
    return null;
  }

  #add(workspaceId: string): Recent {
    for (const [oldest, { latestVersion }] of this.#workspaces) {
      if (this.#workspaces.size < WORKSPACES_MAX) break;
      this.#workspaces.delete(oldest);
      this.#forgottenVersion = Math.max(this.#forgottenVersion, latestVersion);
    }
    // This workspace may have been dropped before, together with its wakes.
    const droppedVersion = this.#forgottenVersion;
    const recent = { notes: new Map(), droppedVersion, latestVersion: 0 };
    this.#workspaces.set(workspaceId, recent);
    return recent;
  }
}

function forget(recent: Recent, versions: readonly number[]): void {
  recent.droppedVersion = Math.max(recent.droppedVersion, versions.at(-1) ?? 0);
}

function keyOf(wake: Wake): string {
  if (wake.kind === 'lane') return `lane ${wake.laneId}`;
  return wake.kind === 'agent' ? `agent ${wake.agentId}` : 'workspace';
}
