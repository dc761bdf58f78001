import { jobKinds, jobStatuses } from 'virtual:contract-data';
import type { JobKind, JobStatus } from '@signalbox/contract';

/** Groups of the job list, most urgent first. */
export const jobGroups = [
  { name: 'blocked', word: 'Needs you', statuses: ['blocked'] },
  { name: 'running', word: 'Running', statuses: ['running'] },
  { name: 'failed', word: 'Failed', statuses: ['failed'] },
  { name: 'pending', word: 'Queued', statuses: ['pending'] },
  { name: 'finished', word: 'Finished', statuses: ['done', 'canceled'] },
] as const satisfies readonly { name: string; word: string; statuses: readonly JobStatus[] }[];
export type JobGroup = (typeof jobGroups)[number];

/** The values of the filter of statuses. Without one, the list has groups. */
export type StatusFilter = JobStatus | 'finished' | 'all';

const agesMs = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 };
export type Age = keyof typeof agesMs;
export const ageWords: Readonly<Record<Age, string>> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
};

/** The beginning of an age, as the hub takes it. */
export function beginningOf(age: Age, nowMs: number): string {
  return new Date(nowMs - agesMs[age]).toISOString();
}

/** Reads an age from a URL; undefined for other values. */
export function readAge(value: unknown): Age | undefined {
  return typeof value === 'string' && Object.hasOwn(agesMs, value) ? (value as Age) : undefined;
}

/** Filters of the job list; all are part of the URL. */
export interface JobFilters {
  status?: StatusFilter;
  kind?: JobKind;
  /** IDs. */
  repo?: string;
  agent?: string;
  run?: string;
  /** Jobs that the person enqueued. */
  mine?: true;
  /** Jobs created within this time. */
  since?: Age;
  /** Only the jobs of works that have landed or were closed, which are left out otherwise. */
  ended?: true;
  /** Part of a title, an ID, a prompt or a result; or of a log. */
  q?: string;
  in?: 'logs';
}

const TEXT_CHARS_MAX = 200;
const ID_CHARS_MAX = 100;

/** Reads the filters from a URL that a person may have edited; unknown values are dropped. */
export function readJobFilters(search: Record<string, unknown>): JobFilters {
  const filters: JobFilters = {};
  const statuses: readonly StatusFilter[] = [...jobStatuses, 'finished', 'all'];
  const status = statuses.find((each) => each === search.status);
  if (status) filters.status = status;
  const kind = jobKinds.find((each) => each === search.kind);
  if (kind) filters.kind = kind;
  for (const name of ['repo', 'agent', 'run'] as const) {
    const id = textOf(search[name], ID_CHARS_MAX);
    if (id) filters[name] = id;
  }
  if (search.mine === true) filters.mine = true;
  if (search.ended === true) filters.ended = true;
  const since = readAge(search.since);
  if (since) filters.since = since;
  const q = textOf(search.q, TEXT_CHARS_MAX);
  if (q) filters.q = q;
  if (q && search.in === 'logs') filters.in = 'logs';
  return filters;
}

/** The router reads `q=12` as a number. */
function textOf(value: unknown, charsMax: number): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  return String(value).trim().slice(0, charsMax);
}

/** Whether the list has groups: with a status or a text it has one part, newest first. */
export function hasGroups({ status, q }: JobFilters): boolean {
  return status === undefined && q === undefined;
}

export function isFiltered(filters: JobFilters): boolean {
  return Object.keys(filters).length > 0;
}

/** The filter that shows all jobs of a group. */
export function statusOfGroup({ name }: JobGroup): StatusFilter {
  return name;
}

/** The statuses of a filter; undefined for any. */
export function statusesOf(status: StatusFilter | undefined): readonly JobStatus[] | undefined {
  if (status === undefined || status === 'all') return undefined;
  return status === 'finished' ? ['done', 'canceled'] : [status];
}

/** The filters that lists and counts share, as the hub takes them. */
export function wireFilters(filters: JobFilters, nowMs: number) {
  const { kind, repo, agent, run, mine, since, ended, q } = filters;
  return {
    // Who searches means all of it.
    ...((ended || q === undefined) && { workEnded: ended === true }),
    ...(kind && { kind }),
    ...(repo && { repoId: repo }),
    ...(agent && { agentId: agent }),
    ...(run && { runId: run }),
    ...(mine && { mine }),
    ...(since && { fromAt: beginningOf(since, nowMs) }),
  };
}
