import type { SpecClient } from './spec-client.ts';

/** The headings of the specification, in its order, and one for what it does not contain. */
export const sections = [
  'What the service does',
  'Resources and their fields',
  'States and transitions',
  'Endpoints',
  'Authentication',
  'Events',
  'Errors',
  'Limits',
  'Versioning',
  'Extensions',
] as const;
export type Section = (typeof sections)[number];

/**
 * One statement of the specification and the check that proves it. The rows are
 * data: besides running them, a document can be made from them.
 */
export interface ConformanceRow {
  /** Unique and lasting, such as `jobs-7`; the id of a deleted row is not used again. */
  id: string;
  section: Section;
  /** In the words of the specification, or of the protocol for an extension. */
  statement: string;
  /** Runs against a hub with a workspace of its own, by requests that the specification knows. */
  check: (spec: SpecClient) => Promise<void>;
}

/** Rows of one section, written as `[id, statement, check]`. */
export function rowsOf(
  section: Section,
  rows: readonly [id: string, statement: string, check: ConformanceRow['check']][],
): ConformanceRow[] {
  return rows.map(([id, statement, check]) => ({ id, section, statement, check }));
}
