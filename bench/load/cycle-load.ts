import { endpoints } from '@signalbox/contract';
import { summarizeLatency } from '../statistics.ts';
import { type Connection, openConnections, type Target } from './connection.ts';
import {
  type Claim,
  formatPost,
  type LoadAgent,
  prepareRequests,
  type Queue,
  readClaim,
  requireOk,
} from './hub-calls.ts';
import type { LoadReport } from './load-report.ts';
import { type Mark, Span, type SpanSpec } from './span.ts';

/**
 * Complete cycles of enqueue, claim and complete as separate requests; one agent per connection.
 */
export interface CycleLoad extends SpanSpec, Queue {
  readonly kind: 'cycles';
  /** The hubs; connections are distributed among them. */
  readonly targets: readonly Target[];
  /** One per connection. */
  readonly agents: readonly LoadAgent[];
  /** Whether pending jobs exist before and may remain at the end. */
  readonly hasBacklog: boolean;
}

/** Limit of consecutive empty claims. A claim may find nothing while others hold all jobs. */
const EMPTY_CLAIMS_MAX = 100;

interface Ledger {
  readonly span: Span;
  readonly claimsMs: number[];
  readonly cyclesMs: number[];
  /** All granted jobs, to detect one that is granted twice. */
  readonly claimed: Set<string>;
  enqueued: number;
  completed: number;
}

/** @throws Error on the first wrong answer, and if a job is granted twice or left over. */
export async function runCycleLoad(
  spec: CycleLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const connections = await openConnections(spec.targets, spec.agents.length);
  const ledger: Ledger = {
    span: new Span(spec, onMark),
    claimsMs: [],
    cyclesMs: [],
    claimed: new Set(),
    enqueued: 0,
    completed: 0,
  };
  await Promise.all(
    connections.map((connection, number) => runAgent(spec, ledger, connection, number)),
  );
  const generatorCpuMs = await ledger.span.measureOwnCpuMs();
  await checkNothingLeft(spec, connections);
  for (const connection of connections) connection.close();
  const { claimsMs, cyclesMs, claimed, enqueued, completed } = ledger;
  if (claimed.size !== enqueued || completed !== enqueued) {
    throw new Error(`${enqueued} enqueued, ${claimed.size} claimed, ${completed} completed`);
  }
  return {
    count: cyclesMs.length,
    seconds: spec.measureMs / 1_000,
    generatorCpuMs,
    latency: { cycle: summarizeLatency(cyclesMs), claim: summarizeLatency(claimsMs) },
    totals: { completed },
  };
}

/** Runs cycles of one agent until the time is over; always finishes the last one. */
async function runAgent(
  spec: CycleLoad,
  ledger: Ledger,
  connection: Connection,
  number: number,
): Promise<void> {
  const agent = spec.agents[number];
  const target = spec.targets[number % spec.targets.length];
  if (agent === undefined || target === undefined) throw new Error('a connection needs an agent');
  const requests = prepareRequests(spec, agent, target);
  const claimRequest = requests.claim();
  const { span, claimsMs, cyclesMs } = ledger;
  while (span.isOpen()) {
    const beganMs = performance.now();
    await requireOk(connection, requests.enqueue, 'enqueue');
    ledger.enqueued++;
    const enqueuedMs = performance.now();
    const claim = await claimJob(ledger, connection, claimRequest);
    const claimedMs = performance.now();
    await requireOk(connection, requests.complete(claim), 'complete');
    ledger.completed++;
    const completedMs = performance.now();
    if (!span.holds(completedMs)) continue;
    claimsMs.push(claimedMs - enqueuedMs);
    cyclesMs.push(completedMs - beganMs);
  }
}

async function claimJob(ledger: Ledger, connection: Connection, request: string): Promise<Claim> {
  for (let empty = 0; empty <= EMPTY_CLAIMS_MAX; empty++) {
    const claim = readClaim(await requireOk(connection, request, 'claim-next'));
    if (claim === null) continue;
    if (ledger.claimed.has(claim.jobId)) throw new Error(`${claim.jobId} was granted twice`);
    ledger.claimed.add(claim.jobId);
    return claim;
  }
  throw new Error(
    `${EMPTY_CLAIMS_MAX} consecutive claims found nothing although jobs were pending`,
  );
}

/** All cycles are complete, so no job may be pending or running that was not before. */
async function checkNothingLeft(spec: CycleLoad, connections: Connection[]): Promise<void> {
  const [connection] = connections;
  const [target] = spec.targets;
  const token = spec.agents[0]?.token;
  if (connection === undefined || target === undefined || token === undefined) return;
  for (const status of spec.hasBacklog ? ['running'] : ['pending', 'running']) {
    const body = JSON.stringify({ workspaceId: spec.workspaceId, status, limit: 1 });
    const answer = await requireOk(
      connection,
      formatPost(target, endpoints.jobs.list.path, token, body),
      'list',
    );
    if (!answer.includes('"jobs":[]')) throw new Error(`a job is left ${status}: ${answer}`);
  }
}
