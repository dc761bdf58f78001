import { type endpoints, type Job, type RequestInput, TITLE_CHARS_MAX } from '@signalbox/contract';

/** The body of an enqueue, with its defaults. */
export type JobDraft = RequestInput<typeof endpoints.jobs.enqueue.request>;
export type ClaimInput = RequestInput<typeof endpoints.jobs.claimNext.request>;
export type CompleteInput = RequestInput<typeof endpoints.jobs.complete.request>;

/** A bearer token as it is stored, under the hash of its text. */
export interface TokenRecord {
  readonly workspaceId: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number;
}

/** A job in a peer's queue. */
export interface PeerJob {
  readonly jobId: string;
  readonly draft: JobDraft;
  readonly status: 'pending' | 'running' | 'done';
  /** The number of attempts so far; it is the claim's generation. */
  readonly attempt: number;
  readonly agentId: string | null;
  readonly enqueuedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
}

/** One step of a job, as its timeline keeps it. */
export interface TimelineEvent {
  readonly kind: 'enqueued' | 'claimed' | 'completed';
  readonly atMs: number;
  readonly attempt: number;
  readonly agentId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * The calls of the service to a library. A call resolves when its change and the event of its step
 * are on disk.
 */
export interface PeerQueue {
  addToken(tokenHash: string, token: TokenRecord): Promise<void>;
  findToken(tokenHash: string): Promise<TokenRecord | null>;
  enqueue(jobId: string, draft: JobDraft, createdBy: string): Promise<PeerJob>;
  /** Takes the next job; null without one. */
  claim(input: ClaimInput): Promise<PeerJob | null>;
  /** Null if the agent does not hold the job in this attempt. */
  complete(input: CompleteInput): Promise<PeerJob | null>;
  hasJobs(status: 'pending' | 'running'): Promise<boolean>;
}

/** How long an agent holds a job; the libraries set this per queue, not per claim. */
export { LEASE_MS_DEFAULT as LEASE_MS } from '@signalbox/contract';

/** A job as it is on the wire, with the fields that the hub's answers have. */
export function presentJob(job: PeerJob, leaseExpiresAtMs: number | null): Job {
  const { draft } = job;
  return {
    jobId: job.jobId,
    workspaceId: draft.workspaceId,
    repoId: draft.repoId,
    runId: draft.runId ?? null,
    kind: draft.kind,
    role: draft.role,
    title: draft.prompt.trimStart().split('\n', 1)[0]?.slice(0, TITLE_CHARS_MAX) ?? '',
    prompt: draft.prompt,
    requirements: draft.requirements ?? null,
    priority: draft.priority,
    status: job.status,
    attempt: job.attempt,
    maxAttempts: draft.maxAttempts,
    agentId: job.agentId,
    leaseMs: leaseExpiresAtMs === null ? null : leaseExpiresAtMs - (job.startedAtMs ?? 0),
    leaseExpiresAt: timestampOf(leaseExpiresAtMs),
    availableAt: new Date(job.enqueuedAtMs).toISOString(),
    createdAt: new Date(job.enqueuedAtMs).toISOString(),
    createdBy: { id: 'service:bench', name: 'bench' },
    startedAt: timestampOf(job.startedAtMs),
    finishedAt: timestampOf(job.finishedAtMs),
    outcome: job.status === 'done' ? 'done' : null,
    outcomeReason: null,
    message: null,
    evidence: null,
    changed: null,
    verdict: null,
    usage: null,
    budget: null,
    tool: null,
    model: null,
    parentJobId: draft.parentJobId ?? null,
    dependsOn: draft.dependsOn,
    continuesJobId: null,
    workJobId: null,
    round: 1,
    landsJobId: null,
    workEnded: null,
    concurrencyKey: draft.concurrencyKey ?? null,
    cancelRequestedAt: null,
    waitingOnUncertaintyId: null,
    decisions: [],
  };
}

function timestampOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
