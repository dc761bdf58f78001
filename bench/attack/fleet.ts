// Well-behaved agents in a process of their own, each with the SDK, as our agent calls it.
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT_HEARTBEAT_INTERVAL_MS } from '@signalbox/contract';
import { type Client, createClient } from '@signalbox/sdk';
import { prompt } from '../load/request-text.ts';
import { type Latency, summarizeLatency } from '../statistics.ts';
import { answerQuestions } from './asking.ts';

export interface FleetOrder {
  readonly baseUrl: string;
  readonly workspaceId: string;
  readonly repoId: string;
  readonly tokens: readonly string[];
  readonly agentCount: number;
}

/** `mark` begins a new span; `collect` asks for the calls that began in the span before it. */
export type FleetQuestion = { readonly start: FleetOrder } | 'mark' | 'collect' | 'stop';

export interface FleetSeen {
  readonly latency: Latency | null;
  readonly jobs: number;
  /** By code: attempts that the SDK repeated, and calls that failed after that. */
  readonly failures: Readonly<Record<string, number>>;
}

/** A job takes four seconds: output each second, a renewal in the middle. */
const STEPS_PER_JOB = 4;
const STEP_MS = 1_000;
const RENEWAL_STEP = 2;
const LEASE_MS = 60_000;
const CLAIM_WAIT_MS = 5_000;
/** The output of a tool in a second. */
const OUTPUT = 'ran 12 tests, all passed. '.repeat(20);

/** A span between two marks, with the calls that began in it. */
interface CallSpan {
  readonly latenciesMs: number[];
  readonly failures: Record<string, number>;
  jobs: number;
  open: number;
}

const newSpan = (): CallSpan => ({ latenciesMs: [], failures: {}, jobs: 0, open: 0 });
let before = newSpan();
let current = newSpan();
let isOver = false;
let working: Promise<unknown> = Promise.resolve();

/** Calls and notes how long it took, retries included. @returns null after a failure. */
async function timed<T>(call: Promise<T>): Promise<T | null> {
  const span = current;
  const beganMs = performance.now();
  span.open += 1;
  try {
    const answer = await call;
    span.latenciesMs.push(performance.now() - beganMs);
    return answer;
  } catch (error) {
    countFailure(span, 'failed', error);
    return null;
  } finally {
    span.open -= 1;
  }
}

function countFailure({ failures }: CallSpan, how: 'failed' | 'repeated', error: unknown): void {
  const { code, name } = error as { code?: unknown; name?: unknown };
  const what = `${how} ${typeof code === 'string' ? code : String(name)}`;
  failures[what] = (failures[what] ?? 0) + 1;
}

async function work(client: Client, order: FleetOrder, number: number): Promise<void> {
  const { workspaceId, repoId, agentCount } = order;
  const beat = () =>
    client.agents.heartbeat({
      ...{ workspaceId, displayName: `good ${number}`, machineFingerprint: `good ${number}` },
      capabilities: { canWrite: true, reposAllowed: [repoId], maxConcurrentJobs: 1 },
    });
  const { agentId } = await beat();
  const beats = setInterval(() => void timed(beat()), AGENT_HEARTBEAT_INTERVAL_MS);
  // The agents begin one after the other within the time of a job.
  await sleep((number / agentCount) * STEPS_PER_JOB * STEP_MS);
  while (!isOver) await workOnce(client, { workspaceId, repoId, agentId });
  clearInterval(beats);
}

async function workOnce(
  client: Client,
  { workspaceId, repoId, agentId }: { workspaceId: string; repoId: string; agentId: string },
): Promise<void> {
  await timed(client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt }));
  const waitMs = CLAIM_WAIT_MS;
  const asked = { workspaceId, agentId, leaseMs: LEASE_MS, waitMs };
  const claim = await timed(client.jobs.claimNext(asked));
  if (claim === null || claim.jobId === null) return;
  const held = { workspaceId, agentId, jobId: claim.jobId };
  for (let step = 1; step <= STEPS_PER_JOB && !isOver; step++) {
    await sleep(STEP_MS);
    const entries = [{ logSeq: step, message: OUTPUT }];
    await timed(client.jobEvents.append({ ...held, entries }));
    if (step === RENEWAL_STEP) {
      await timed(client.jobs.heartbeat({ ...held, leaseMs: LEASE_MS }));
    }
  }
  await timed(client.jobs.complete({ ...held, outcome: 'done', message: 'Done.' }));
  current.jobs += 1;
}

async function start(order: FleetOrder): Promise<void> {
  const { baseUrl, tokens, agentCount } = order;
  const onRetry = ({ error }: { error: Error }) => countFailure(current, 'repeated', error);
  const clients = tokens.map((token) => createClient({ baseUrl, token, onRetry }));
  const agents = Array.from({ length: agentCount }, (_, number) =>
    work(clients[number % clients.length] as Client, order, number),
  );
  working = Promise.all(agents);
}

/** The calls of the span before the last mark. One that is still open counts as a failure. */
function collect(): FleetSeen {
  const { latenciesMs, failures, jobs, open } = before;
  return {
    latency: summarizeLatency(latenciesMs),
    jobs,
    failures: open === 0 ? failures : { ...failures, 'not answered yet': open },
  };
}

function mark(): void {
  before = current;
  current = newSpan();
}

answerQuestions(async (question: FleetQuestion) => {
  if (question === 'collect') return collect();
  if (question === 'mark') return mark();
  if (question !== 'stop') return start(question.start);
  isOver = true;
  return working;
});
// The starter has ended.
process.once('disconnect', () => process.exit(0));
