import { createHash, type Hash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { presentCloudAiJob } from '../cloud-ai-jobs/present.ts';
import { readCloudAiJob } from '../cloud-ai-jobs/store.ts';
import { presentJob, presentJobEvent } from '../jobs/present.ts';
import { readJob } from '../jobs/store.ts';
import { listEvents, listLastEvents } from '../jobs/store-events.ts';
import type { Entry } from '../queue/entry.ts';
import { readEntry } from '../queue/store.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { ByteStore } from '../uploads/bytes/byte-store.ts';
import { insertRemovals, type Removal } from './store.ts';
import { type ArchivePart, insertPart, sealParts } from './store-parts.ts';

/*
 * The archive keeps ended jobs for the operator, in files of JSON lines. Each file is written
 * completely and synced before the jobs in it are deleted; see docs/decisions/0014.
 */

export interface ArchiveDeps extends HookDeps, Pick<HubDeps, 'database' | 'clock'> {
  /** Null: retention deletes jobs without archiving them. */
  archive: ByteStore | null;
}

/** The limit of a file, plus one line; the whole file is in memory before it is written. */
const PART_BYTES_MAX = 8 * 1_024 * 1_024;
const PIECE_BYTES = 64 * 1_024;
const EVENTS_PAGE = 200;
/** Jobs read in one turn of the event loop. SQLite reads never yield by themselves. */
const JOBS_PER_TURN = 10;
/** A file's name contains its time, and random bytes against collisions with other hubs. */
const TIME_CHARS = 12;
const RANDOM_BYTES = 6;

/**
 * Archives ended entries of a workspace, and schedules them for deletion in the transaction that
 * seals the files. An entry that changes before its deletion stays, and is archived again later.
 *
 * @param month when they ended, such as 2026-11.
 * @returns how many.
 */
export async function archiveEntries(
  deps: ArchiveDeps,
  place: { workspaceId: string; month: string },
  entryIds: readonly string[],
): Promise<number> {
  const files = deps.archive === null ? null : new ArchiveFiles(deps, deps.archive, place);
  const removals: Removal[] = [];
  for (const [at, entryId] of entryIds.entries()) {
    if (at % JOBS_PER_TURN === 0) await nextTurn();
    const removal = await archiveEntry(deps, files, place.workspaceId, entryId);
    if (removal !== null) removals.push(removal);
  }
  await files?.flush();
  await deps.database.write(place.workspaceId, async (tx) => {
    if (files !== null) await sealParts(tx, files.parts);
    await insertRemovals(tx, removals);
  });
  return removals.length;
}

/** @returns the entry to delete, or null if it was deleted or is active again. */
async function archiveEntry(
  { database }: ArchiveDeps,
  files: ArchiveFiles | null,
  workspaceId: string,
  entryId: string,
): Promise<Removal | null> {
  const { reader } = database;
  const entry = await readEntry(reader, workspaceId, entryId);
  if (entry === undefined || entry.finished_at === null) return null;
  const { queue, finished_at } = entry;
  const removal = { workspace_id: workspaceId, entry_id: entryId, queue, finished_at };
  if (queue === 'cloud-ai-jobs') {
    const row = await readCloudAiJob(reader, workspaceId, entryId);
    if (row === undefined) return null;
    const { created_by: createdBy } = row;
    const cloudAiJob = presentCloudAiJob(entry, row);
    await files?.add({ type: 'cloudAiJob', cloudAiJob, createdBy }, 'job');
    return { ...removal, last_seq: 0 };
  }
  return archiveJob(database.reader, files, entry, removal);
}

async function archiveJob(
  reader: HubDeps['database']['reader'],
  files: ArchiveFiles | null,
  entry: Entry,
  removal: Omit<Removal, 'last_seq'>,
): Promise<Removal | null> {
  const { workspace_id: workspaceId, entry_id: jobId } = entry;
  const row = await readJob(reader, workspaceId, jobId);
  if (row === undefined) return null;
  await files?.add({ type: 'job', job: presentJob(entry, row), createdBy: row.created_by }, 'job');
  let lastSeq = 0;
  if (files === null) {
    const [last] = await listLastEvents(reader, workspaceId, jobId, { limit: 1 });
    return { ...removal, last_seq: last?.seq ?? 0 };
  }
  for (;;) {
    const events = await listEvents(reader, workspaceId, jobId, {
      after: lastSeq,
      limit: EVENTS_PAGE,
    });
    for (const event of events) {
      await files.add({ type: 'event', event: presentJobEvent(event, row) }, 'event');
    }
    lastSeq = events.at(-1)?.seq ?? lastSeq;
    if (events.length < EVENTS_PAGE) return { ...removal, last_seq: lastSeq };
    await nextTurn();
  }
}

/** Collects lines and writes them to files of bounded size. */
class ArchiveFiles {
  /** Files that are written but not sealed yet. */
  readonly parts: ArchivePart[] = [];
  readonly #deps: ArchiveDeps;
  readonly #store: ByteStore;
  readonly #place: { workspaceId: string; month: string };
  #pieces: Buffer[] = [];
  #lines = '';
  #sizeBytes = 0;
  #hash: Hash = createHash('sha256');
  #counts = { job: 0, event: 0 };

  constructor(deps: ArchiveDeps, store: ByteStore, place: { workspaceId: string; month: string }) {
    this.#deps = deps;
    this.#store = store;
    this.#place = place;
  }

  async add(line: object, counts: 'job' | 'event'): Promise<void> {
    if (this.#lines === '' && this.#pieces.length === 0) {
      this.#lines = `${JSON.stringify({ type: 'archive', version: 1, ...this.#place })}\n`;
    }
    this.#lines += `${JSON.stringify(line)}\n`;
    this.#counts[counts] += 1;
    if (this.#lines.length >= PIECE_BYTES) this.#cutPiece();
    if (this.#sizeBytes >= PART_BYTES_MAX) await this.flush();
  }

  /** Writes the collected lines to a file, which is durable when this returns. */
  async flush(): Promise<void> {
    this.#cutPiece();
    if (this.#pieces.length === 0) return;
    const pieces = this.#pieces;
    const sha256 = this.#hash.digest('hex');
    const { workspaceId, month } = this.#place;
    const { database, clock } = this.#deps;
    const time = clock.nowMs().toString(16).padStart(TIME_CHARS, '0');
    const part: ArchivePart = {
      workspace_id: workspaceId,
      object_key: `${workspaceId}.${month}.${time}${randomBytes(RANDOM_BYTES).toString('hex')}.jsonl`,
      month,
      jobs: this.#counts.job,
      events: this.#counts.event,
      size_bytes: this.#sizeBytes,
      sha256,
    };
    await database.write(workspaceId, (tx) => insertPart(tx, part));
    await this.#store.put(part.object_key, iterate(pieces), {
      sizeBytes: part.size_bytes,
      sha256,
    });
    this.parts.push(part);
    this.#pieces = [];
    this.#sizeBytes = 0;
    this.#hash = createHash('sha256');
    this.#counts = { job: 0, event: 0 };
  }

  #cutPiece(): void {
    if (this.#lines === '') return;
    const piece = Buffer.from(this.#lines, 'utf8');
    this.#lines = '';
    this.#pieces.push(piece);
    this.#hash.update(piece);
    this.#sizeBytes += piece.length;
  }
}

async function* iterate(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
