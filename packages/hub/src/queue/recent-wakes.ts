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
   * When it happened, ascending. Of a lane, once for each wait that may still be ended by it: most
   * of those jobs are taken without a wait, and then only claims that began before could be misled.
   */
  versions: number[];
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
/** Wakes remembered for each lane. */
const VERSIONS_MAX = 2_048;
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

  /** @param count of a lane: how many waits it may end. Anything else ends all of them. */
  note(workspaceId: string, wake: Wake, count = 1): void {
    if (count <= 0) return;
    this.#version += 1;
    const recent = this.#workspaces.get(workspaceId) ?? this.#add(workspaceId);
    recent.latestVersion = this.#version;
    const { notes } = recent;
    const key = keyOf(wake);
    const versions = wake.kind === 'lane' ? (notes.get(key)?.versions ?? []) : [];
    for (let at = 0; at < count; at++) versions.push(this.#version);
    // Half at a time, so that where no claim ever waits a wake costs no more than its push.
    if (versions.length > VERSIONS_MAX) forget(recent, versions.splice(0, VERSIONS_MAX / 2));
    // Put at the end.
    notes.delete(key);
    notes.set(key, { wake, versions });
    for (const [oldest, noted] of notes) {
      if (notes.size <= NOTES_MAX) break;
      notes.delete(oldest);
      forget(recent, noted.versions);
    }
  }

  /**
   * What a waiter would have been woken by since it took its mark. What ends its wait so ends no
   * other.
   */
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
      // The first since the mark: later ones are for those as well whose mark is later.
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
    // A workspace that was forgotten before may have had wakes that are not kept any more.
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
