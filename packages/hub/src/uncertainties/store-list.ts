import {
  UNCERTAINTY_COUNT_MAX,
  type UncertaintyCounts,
  type UncertaintyStatus,
  uncertaintyStatuses,
} from '@signalbox/contract';
import type { Reader, SqlValue } from '../db/engine.ts';
import type { UncertaintyRow } from './store.ts';

/** Of a question, the beginning that its title is cut from. */
const BEGINNING_CHARS = 2_000;

const SUMMARY_COLUMNS = `uncertainty_id, repo_id, run_id, job_id, status, kind, confidence,
  deadline_at, hand_over_at, created_at, resolved_at, session,
  substr(prompt, 1, ${BEGINNING_CHARS}) AS beginning`;

export interface UncertaintyFilter {
  status?: UncertaintyStatus | undefined;
  kind?: UncertaintyRow['kind'] | undefined;
  repoId?: string | undefined;
  runId?: string | undefined;
  jobId?: string | undefined;
  promoted?: boolean | undefined;
  mine?: boolean | undefined;
  /** Of the caller, for `mine` and for questions of their own sessions. */
  principalId: string;
  /** Whether an answer that can be withdrawn counts as none, as for the tools of jobs. */
  forAsker: boolean;
}

/** The columns of a summary. */
export type UncertaintySummaryRow = Pick<
  UncertaintyRow,
  | 'uncertainty_id'
  | 'repo_id'
  | 'run_id'
  | 'job_id'
  | 'status'
  | 'kind'
  | 'confidence'
  | 'deadline_at'
  | 'hand_over_at'
  | 'created_at'
  | 'resolved_at'
  | 'session'
> & { beginning: string };

interface Page {
  limit: number;
  before: string | null;
}

/** Lists newest first; one more than `limit`, so that the caller sees whether more follow. */
export function listUncertainties(
  reader: Reader,
  workspaceId: string,
  filter: UncertaintyFilter,
  page: Page,
): Promise<UncertaintyRow[]> {
  return list(reader, '*', conditionsOf(workspaceId, filter), page);
}

/** As `listUncertainties`, without long texts. */
export function listUncertaintySummaries(
  reader: Reader,
  workspaceId: string,
  filter: UncertaintyFilter,
  page: Page,
): Promise<UncertaintySummaryRow[]> {
  return list(reader, SUMMARY_COLUMNS, conditionsOf(workspaceId, filter), page);
}

/** Summaries by their ids, in no particular order. */
export function readUncertaintySummaries(
  reader: Reader,
  workspaceId: string,
  uncertaintyIds: readonly string[],
): Promise<UncertaintySummaryRow[]> {
  return reader.allSql(
    `SELECT ${SUMMARY_COLUMNS} FROM uncertainties
     WHERE workspace_id = ? AND uncertainty_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(uncertaintyIds)],
  );
}

/** The columns that decide the place of an open question in the inbox. */
export type OpenQuestionRow = Pick<
  UncertaintyRow,
  'uncertainty_id' | 'job_id' | 'deadline_at' | 'alike_key'
>;

/** Open questions: those with the nearest deadline, then those without one, the oldest first. */
export async function listOpenByUrgency(
  reader: Reader,
  workspaceId: string,
  filter: Omit<UncertaintyFilter, 'status'>,
  limit: number,
): Promise<OpenQuestionRow[]> {
  const { where, values } = conditionsOf(workspaceId, filter);
  const read = (deadline: string, order: string, most: number) =>
    reader.allSql<OpenQuestionRow>(
      `SELECT uncertainty_id, job_id, deadline_at, alike_key FROM uncertainties
       WHERE ${where} AND status = 'open' AND deadline_at IS ${deadline} ORDER BY ${order} LIMIT ?`,
      [...values, most],
    );
  const due = await read('NOT NULL', 'deadline_at, uncertainty_id', limit);
  if (due.length === limit) return due;
  return [...due, ...(await read('NULL', 'uncertainty_id', limit - due.length))];
}

function list<Row>(
  reader: Reader,
  columns: string,
  { where, values }: Conditions,
  { limit, before }: Page,
): Promise<Row[]> {
  return reader.allSql<Row>(
    `SELECT ${columns} FROM uncertainties
     WHERE ${where}${before === null ? '' : ' AND uncertainty_id < ?'}
     ORDER BY uncertainty_id DESC LIMIT ?`,
    [...values, ...(before === null ? [] : [before]), limit + 1],
  );
}

/** Counts by status, each up to `UNCERTAINTY_COUNT_MAX`. */
export async function countUncertainties(
  reader: Reader,
  workspaceId: string,
  filter: Omit<UncertaintyFilter, 'status'>,
): Promise<{ counts: UncertaintyCounts; capped: UncertaintyStatus[] }> {
  const parts = uncertaintyStatuses.map((status) => {
    const { where, values } = conditionsOf(workspaceId, { ...filter, status });
    const few = `SELECT 1 FROM uncertainties WHERE ${where} LIMIT ?`;
    return {
      text: `(SELECT COUNT(*) FROM (${few}) AS few) AS ${status}`,
      values: [...values, UNCERTAINTY_COUNT_MAX],
    };
  });
  const row = await reader.firstSql<UncertaintyCounts>(
    `SELECT ${parts.map(({ text }) => text).join(', ')}`,
    parts.flatMap(({ values }) => values),
  );
  const counts = row ?? { assumed: 0, open: 0, resolved: 0 };
  const capped = uncertaintyStatuses.filter((each) => counts[each] === UNCERTAINTY_COUNT_MAX);
  return { counts, capped };
}

interface Conditions {
  where: string;
  values: SqlValue[];
}

function conditionsOf(workspaceId: string, filter: UncertaintyFilter): Conditions {
  const conditions = ['workspace_id = ?', '(session IS NULL OR requested_by = ?)'];
  const values: SqlValue[] = [workspaceId, filter.principalId];
  const narrow = (condition: string, ...more: SqlValue[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  const { status, kind, repoId, runId, jobId, promoted, mine } = filter;
  if (status !== undefined)
    narrow(filter.forAsker ? `${STATUS_FOR_ASKER} = ?` : 'status = ?', status);
  if (kind !== undefined) narrow('kind = ?', kind);
  if (repoId !== undefined) narrow('repo_id = ?', repoId);
  if (runId !== undefined) narrow('run_id = ?', runId);
  if (jobId !== undefined) narrow('job_id = ?', jobId);
  if (promoted !== undefined) narrow(`decision_request_id IS ${promoted ? 'NOT ' : ''}NULL`);
  if (mine === true) narrow('requested_by = ?', filter.principalId);
  if (mine === false) narrow('(requested_by IS NULL OR requested_by <> ?)', filter.principalId);
  return { where: conditions.join(' AND '), values };
}

/** Approximate where a held answer supersedes another: its asker then sees it as not answered. */
const STATUS_FOR_ASKER = `CASE WHEN hand_over_at IS NULL THEN status
  WHEN decision_request_id IS NULL THEN 'assumed' ELSE 'open' END`;
