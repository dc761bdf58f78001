import { hash } from 'node:crypto';
import type { QueueEntriesTable, QueueLanesTable, QueueName } from '../db/schema/queue.ts';

/**
 * The narrow, frequently written half of a job or cloud AI job: its place in the queue, its lease,
 * its attempts. The wide half (prompt, evidence, …) is the row of its module under the same id.
 */
export type Entry = QueueEntriesTable;

/** Both halves of a job or cloud AI job. */
export interface LeasedRecord<Row> {
  entry: Entry;
  row: Row;
}

export type Lane = QueueLanesTable;
export type Hold = NonNullable<Entry['hold']>;
export type EntryStatus = Entry['status'];

/**
 * A lane holds the pending entries that the same agents can claim: same queue, repository, kind and
 * required capabilities. A claim therefore looks at the head of each lane that suits the agent and
 * never skips entries that do not suit it, however many there are.
 */
export interface LaneSpec {
  queue: QueueName;
  /** Empty for queues without repositories. */
  repoId: string;
  kind: string;
  /** Canonical JSON of the required capabilities; see `matching.ts`. */
  requirements: string;
}

const LANE_ID_CHARS = 22;

/** Hashes what the lane consists of, so that two hubs derive the same id. */
export function laneIdOf(spec: LaneSpec): string {
  const text = JSON.stringify([spec.queue, spec.repoId, spec.kind, spec.requirements]);
  return hash('sha256', text, 'base64url').slice(0, LANE_ID_CHARS);
}
