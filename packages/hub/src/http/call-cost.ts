import { consoleEndpoints, type Endpoint, endpoints } from '@signalbox/contract';

/** The cost of a call for its caller. */
export interface CallCost {
  /** 1 is a short write such as an enqueue, some 300 µs of the hub's only thread. */
  units: number;
  /**
   * Whether the call keeps or ends a lease. Such calls have buckets of their own, so that a caller
   * that sends too much of anything else loses no lease.
   */
  isLease: boolean;
  /** Whether the answer may be long, so that a caller may have a few under way only. */
  isLongRead: boolean;
}

const { agents, jobs, jobEvents, cloudAiJobs, contextItems, contextPacks, health } = endpoints;

/** Claims are not among them: an agent that gets no new work keeps what it has. */
const leaseCalls = new Set<string>(
  [
    agents.heartbeat,
    agents.report,
    jobs.heartbeat,
    jobs.complete,
    cloudAiJobs.heartbeat,
    cloudAiJobs.complete,
  ].map(({ name }) => name),
);

/** A page of a list takes up to 10 ms. */
const LIST_UNITS = 20;
/** A change of many jobs is as many short writes. */
const BULK_UNITS = 50;

/** Calls that take longer than a short write and answer with more. */
const longReads = new Map<string, number>([
  [health.openapi.name, 5],
  [jobEvents.listForJob.name, 5],
  [jobs.log.name, 5],
  [jobs.activity.name, 5],
  // These two may read tens of megabytes, in pieces between which others have their turn.
  [jobs.searchLog.name, 50],
  [jobs.downloadLog.name, 50],
  [contextItems.search.name, 50],
  [contextPacks.buildRunV1.name, 100],
  [contextPacks.resolveRunV1.name, 50],
  // These two read the whole log of a workspace, in pieces between which others have their turn.
  [consoleEndpoints.auditLog.export.name, 100],
  [consoleEndpoints.auditLog.verify.name, 100],
]);

/** Load balancers and monitors ask often, and must get an answer also from a hub under attack. */
const freeCalls = new Set(
  Object.values(health)
    .map(({ name }) => name)
    .filter((name) => name !== health.openapi.name),
) as ReadonlySet<string>;

/** The cost of a row of the endpoint table. A new list is a long read without being named here. */
export function costOf(row: Endpoint): CallCost {
  const isLease = leaseCalls.has(row.name);
  if (freeCalls.has(row.name)) return { units: 0, isLease, isLongRead: false };
  if (row.name === jobs.bulk.name) return { units: BULK_UNITS, isLease, isLongRead: false };
  const isList = 'nextCursor' in row.response.properties;
  const units = longReads.get(row.name) ?? (isList ? LIST_UNITS : 1);
  return { units, isLease, isLongRead: units > 1 };
}
