import type { ListedUncertainty } from '@signalbox/contract';

/** Questions of one repository or run. */
export interface InboxGroup<Row> {
  /** The id of the repository or run; empty for questions of a deleted repository. */
  id: string;
  by: 'repository' | 'run';
  rows: Row[];
}

/** A shorter list is clear without groups. */
const GROUPED_ROWS_MIN = 8;

type GroupedRow = Pick<ListedUncertainty, 'repoId' | 'runId'>;

/**
 * Groups a long list by repository, or by run where all questions are of one repository. The order
 * within a group stays, and the group with the first question is first. Null: no groups.
 */
export function groupQuestions<Row extends GroupedRow>(
  rows: readonly Row[],
): InboxGroup<Row>[] | null {
  if (rows.length < GROUPED_ROWS_MIN) return null;
  const byRepository = Map.groupBy(rows, ({ repoId }) => repoId ?? '');
  const byRun = Map.groupBy(rows, ({ runId }) => runId);
  const [by, groups] =
    byRepository.size > 1 ? (['repository', byRepository] as const) : (['run', byRun] as const);
  // As many groups as questions say nothing.
  if (groups.size < 2 || groups.size > rows.length / 2) return null;
  return [...groups].map(([id, inGroup]) => ({ id, by, rows: inGroup }));
}
