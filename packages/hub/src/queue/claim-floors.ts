import type { Entry } from './entry.ts';

/*
 * Claims on PostgreSQL beside an old snapshot. While a session keeps one open, no index entry of a
 * claimed job is removed, and each search for the first ready entry of a lane passes over all of
 * them. A search that has passed over many leaves a floor in memory: the place of the first entry
 * that was ready. Later searches begin there. A write of this hub that makes an entry ready below a
 * floor lowers it; of what other hubs write there, a search from the start learns, every 5 seconds.
 */

/** How long searches of a lane begin at its floor, before one begins at the start again. */
const FLOOR_MS = 5_000;
/** Index entries that a search may pass over without a floor: less than a millisecond. */
const PASSED_MAX = 1_000;
/** Lanes with a floor; with more, all floors are dropped. */
const FLOORS_MAX = 5_000;
/** The latest writes, for searches in progress: more than a transaction takes to commit. */
const WRITES_KEPT = 2_000;
/** Before the place of every entry. */
const START = Number.MIN_SAFE_INTEGER;

interface Floor {
  /** A sort key; `START` while no entry was found. */
  place: number;
  /** When a search from the start began, by the database's clock. */
  searchedAtMs: number;
}

/** A search of some lanes. */
export interface Search {
  workspaceId: string;
  laneIds: readonly string[];
  /** Where the search begins in each lane; null: at the start of all. */
  from: readonly number[] | null;
  beganAtMs: number;
  /** The number of writes before it. */
  writes: number;
}

export interface Found {
  /** The sort key of the first ready entry of all lanes; null when nothing was ready. */
  first: number | null;
  /** Index entries that the search passed over, besides those of ready entries. */
  passed: number;
}

export type Place = Pick<Entry, 'workspace_id' | 'lane_id' | 'sort_key'>;

export class ClaimFloors {
  readonly #passedMax: number;
  readonly #floors = new Map<string, Floor>();
  /** The latest places where an entry became ready. */
  #recent: { lane: string; place: number }[] = [];
  #writes = 0;

  constructor(passedMax = PASSED_MAX) {
    this.#passedMax = passedMax;
  }

  /** For an entry that became ready, or a ready one that was moved. */
  lower({ workspace_id, lane_id, sort_key: place }: Place): void {
    this.#writes += 1;
    if (this.#floors.size === 0) return;
    const lane = keyOf(workspace_id, lane_id);
    this.#recent.push({ lane, place });
    if (this.#recent.length > 2 * WRITES_KEPT) this.#recent.splice(0, WRITES_KEPT);
    const floor = this.#floors.get(lane);
    if (floor !== undefined) floor.place = Math.min(floor.place, place);
  }

  /** Where to begin a search of some lanes. */
  begin(workspaceId: string, laneIds: readonly string[], nowMs: number): Search {
    const search = { workspaceId, laneIds, beganAtMs: nowMs, writes: this.#writes };
    if (this.#floors.size === 0) return { ...search, from: null };
    const from = laneIds.map((laneId) => {
      const floor = this.#floors.get(keyOf(workspaceId, laneId));
      if (floor === undefined) return START;
      const ageMs = nowMs - floor.searchedAtMs;
      // The database's clock may have been set back.
      if (ageMs >= 0 && ageMs < FLOOR_MS) return floor.place;
      // Only this search begins at the start; the others keep the floor meanwhile.
      floor.searchedAtMs = nowMs;
      return START;
    });
    return { ...search, from: from.every((place) => place === START) ? null : from };
  }

  /** Whether `end` has something to note. */
  isNoted({ from }: Search, { passed }: Found): boolean {
    return passed > this.#passedMax || from !== null || this.#floors.size > 0;
  }

  /**
   * Notes what a search found. To be called after the commit: a claim that is rolled back leaves
   * its entry where it was.
   */
  end(search: Search, { first, passed }: Found): void {
    const { workspaceId, laneIds, from, beganAtMs } = search;
    const since = this.#writtenSince(search.writes);
    for (const [at, laneId] of laneIds.entries()) {
      const lane = keyOf(workspaceId, laneId);
      const begun = from?.[at] ?? START;
      if (begun === START && passed <= this.#passedMax) {
        this.#floors.delete(lane);
        continue;
      }
      const written = since?.filter((write) => write.lane === lane) ?? [{ place: START }];
      const place = Math.min(first ?? START, ...written.map((write) => write.place));
      this.#setPlace(lane, { begun, beganAtMs, place, first });
    }
    if (this.#floors.size > FLOORS_MAX) this.#floors.clear();
    // Without floors, `lower` keeps no writes.
    if (this.#floors.size === 0) this.#recent = [];
  }

  /** @param found `place`: that of the first entry, or of an earlier write, or `START`: unknown. */
  #setPlace(
    lane: string,
    found: { begun: number; beganAtMs: number; place: number; first: number | null },
  ): void {
    const { begun, beganAtMs, place, first } = found;
    const floor = this.#floors.get(lane);
    if (floor === undefined) {
      if (begun === START) this.#floors.set(lane, { place, searchedAtMs: beganAtMs });
    } else if (place !== START && (begun === START || floor.place === begun)) {
      floor.place = place;
    } else if (begun === START && first !== null) {
      floor.place = Math.min(floor.place, first);
    }
  }

  /** The places that were written since; null when there are more than are kept. */
  #writtenSince(writes: number) {
    const count = this.#writes - writes;
    return count > this.#recent.length ? null : this.#recent.slice(this.#recent.length - count);
  }
}

function keyOf(workspaceId: string, laneId: string): string {
  return `${workspaceId} ${laneId}`;
}
