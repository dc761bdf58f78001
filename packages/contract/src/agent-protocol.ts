/**
 * The protocol between an agent and a hub: the calls in the order in which an agent makes them, and
 * what can go wrong at each. All types derive from the endpoint table, so this file changes with
 * it. Shapes and error codes are in `endpoints/`; docs/reference/protocol.md decides the rules.
 *
 * Three rules hold throughout:
 * - The agent calls, the hub answers. Orders to the agent travel in answers to heartbeats.
 * - Any answer can be lost. Every call below may be sent again; the ones that would act twice carry
 *   a key or a number by which the hub recognizes the repetition.
 * - `claimGeneration`, the number of the attempt, fences every write. LEASE_LOST,
 *   CLAIM_GENERATION_MISMATCH, JOB_CANCELED, JOB_ALREADY_FINISHED and JOB_NOT_RUNNING mean: this
 *   attempt does not hold the job. Stop the tool and send nothing more for the attempt, except the
 *   result if there is one: the hub refuses it and keeps it in the timeline as late evidence.
 */
import type { RequestOf, ResponseOf } from './endpoint.ts';
import type { endpoints } from './endpoints.ts';

/** Limits of one call, set by the caller. */
export interface AgentCallOptions {
  /** Aborting rejects the call. The hub may have acted on it all the same. */
  signal?: AbortSignal;
  /** For one attempt, until the whole answer has arrived. */
  timeoutMs?: number;
}

/** One call of the protocol: a row's request in, its response out. */
export type AgentCall<E> = (
  request: RequestOf<E>,
  options?: AgentCallOptions,
) => Promise<ResponseOf<E>>;

type Rows = typeof endpoints;

/** The calls by group, in the order of their first use. A client of the SDK has all of them. */
export interface AgentProtocol {
  readonly devices: {
    /**
     * Login, once per machine: opens a device session of 10 minutes. Show `userCode` and
     * `approvalUrl` to a person, who approves in a browser. A lost answer leaves a session that
     * expires unused; start another.
     */
    start: AgentCall<Rows['devices']['start']>;
    /**
     * Login: asks every `intervalMs` until the status is not `pending`. Approval mints one token,
     * however many polls and approvals race. Every poll until the session expires returns the same
     * token, so a lost answer costs nothing. Polling too early makes the interval 5 s longer.
     */
    poll: AgentCall<Rows['devices']['poll']>;
  };
  readonly repositories: {
    /**
     * Start: names a local clone by the hash of its remote URL. It makes the hub know that this
     * token serves the repository, unless `capabilities.reposAllowed` says which ones it serves.
     */
    resolve: AgentCall<Rows['repositories']['resolve']>;
  };
  readonly agents: {
    /**
     * Presence: registers the agent and returns its `agentId`, then repeats every `intervalMs`. The
     * same workspace, principal and `machineFingerprint` are the same agent, also after a restart.
     * After 45 s of silence the agent counts as offline and gets no jobs; the leases that it holds
     * run on. So send it from a loop that no job can block, also while draining.
     *
     * `commands` repeats an order until it is done; obeying twice must be harmless. `cancel-job`
     * may name a job that has just ended: ignore it. `share-patch` comes with
     * `changesOnRequest` only: answer it by `jobs/share-patch`. The others have a `number`: send it
     * back as `commandNumber` with every heartbeat of this process. Ignore commands that you do
     * not know.
     */
    heartbeat: AgentCall<Rows['agents']['heartbeat']>;
    /**
     * Report: a heartbeat, renewals and output in one call. Each item has the result that its
     * single call would have; a refused one does not prevent the others. On 404, send single calls.
     */
    report: AgentCall<Rows['agents']['report']>;
  };
  readonly jobs: {
    /**
     * Claim: takes the next job under a lease, or gives the `reason` without one. With `waitMs`
     * the hub holds the request until a job arrives. The answer can be lost after the hub has given
     * out the job: send the same `claimKey` again, with `waitMs` 0 if the agent is leaving, and the
     * same job and generation come back. To a restarted agent as well: store the key before it is
     * sent, and keep it until a job is granted. AGENT_NOT_FOUND: send a heartbeat first. An answer
     * without a job may carry `commands`, as a heartbeat does.
     *
     * The lease began some time after the request was sent. Count it from when the request was
     * first sent; if little of it is left by then, renew before starting the tool.
     */
    claimNext: AgentCall<Rows['jobs']['claimNext']>;
    /**
     * Renew: sets the lease to now + `leaseMs` and never shortens it unless `shorten` is true. Send
     * it until the hub has answered `complete`, not only until the tool has ended.
     *
     * A lease that has expired is still this agent's until someone reclaims the job (within 2 s),
     * so a late renewal can succeed. If no renewal succeeds until the lease has run out by the
     * agent's own clock, stop the tool: another agent may hold the job already.
     *
     * `cancelRequested`: stop the tool, then renew with the shortest lease and `shorten: true`, so
     * that the hub can end the job at once. A result sent now is refused with JOB_CANCELED.
     */
    heartbeat: AgentCall<Rows['jobs']['heartbeat']>;
    /** Messages of people, when the tool starts and when a turn ends. Optional: see `complete`. */
    takeMessages: AgentCall<Rows['jobs']['takeMessages']>;
    /**
     * Complete: reports the outcome with its evidence, exactly once. Write the result to disk
     * before sending it (the outbox), and send it until the hub answers, also after a restart:
     * repeating the accepted completion returns the same answer with `idempotent: true`. No answer,
     * a 5xx, a 429 and a 401 are not the hub's decision; every other refusal is final.
     *
     * A completion after the lease has expired is accepted if no agent has reclaimed the job. One
     * from a lost attempt is refused and kept as late evidence: the job is done by another attempt.
     * `outcomeReason.retryable` and `blocked` may put the job back to `pending`, and this very
     * agent may claim it again, as a new generation, before the answer arrives.
     */
    complete: AgentCall<Rows['jobs']['complete']>;
  };
  readonly jobEvents: {
    /**
     * Log: appends output of the running attempt. `logSeq` rises within the attempt; the hub skips
     * what it has, so a batch may be sent again. The hub takes no output of a finished job: send
     * the rest before `complete`. `cancelRequested` means what it means in the answer to a renewal.
     */
    append: AgentCall<Rows['jobEvents']['append']>;
  };
  readonly uncertainties: {
    /**
     * Ask: records a question with an assumed value. Not promoted: continue with the assumed value.
     * Promoted: either wait for the answer with the lease held, or complete with `blocked` and free
     * the machine. The answer puts a blocked job back to `pending`, with `decisions`. If it comes
     * between asking and blocking, the completion itself puts the job back; no answer is lost.
     */
    createWithAutoPromotion: AgentCall<Rows['uncertainties']['createWithAutoPromotion']>;
    /** Decision: waits up to `waitMs` for the answer. `status: "open"` means: call it again. */
    wait: AgentCall<Rows['uncertainties']['wait']>;
  };
  readonly reviewComments: {
    /** Review: the comments of the work, read when a round begins. */
    list: AgentCall<Rows['reviewComments']['list']>;
    /**
     * Answer: what the tool says of a comment, sent before `complete`. COMMENT_NOT_FOUND: retention
     * has deleted it; continue.
     */
    answer: AgentCall<Rows['reviewComments']['answer']>;
  };
  readonly cloudAiJobs: {
    /** Claim, renew, complete for model calls: the same lease and the same races, no logs. */
    claimNext: AgentCall<Rows['cloudAiJobs']['claimNext']>;
    heartbeat: AgentCall<Rows['cloudAiJobs']['heartbeat']>;
    complete: AgentCall<Rows['cloudAiJobs']['complete']>;
  };
  readonly tokens: {
    /**
     * Logout, which leaving is not: an agent that leaves drains. It sends `status: "draining"`,
     * settles the claim whose answer is missing, finishes what it holds while heartbeats and
     * renewals continue, delivers its results, and sends `status: "offline"`. Results that cannot
     * be delivered stay in the outbox for the next start; leases that it leaves behind expire.
     */
    revoke: AgentCall<Rows['tokens']['revoke']>;
  };
}
