import type { TestContext } from 'node:test';
import { createIdSource, type Job } from '@signalbox/contract';
import { recordHeartbeat } from '../../../src/agents/heartbeat.ts';
import { HubError } from '../../../src/base/errors.ts';
import type { RequestContext } from '../../../src/base/principal.ts';
import { SideThread } from '../../../src/base/side-thread.ts';
import { changeJobs } from '../../../src/jobs/bulk.ts';
import { cancelJob } from '../../../src/jobs/cancel.ts';
import { claimNextJob } from '../../../src/jobs/claim.ts';
import { completeJob } from '../../../src/jobs/complete.ts';
import { enqueueJob } from '../../../src/jobs/enqueue.ts';
import { pauseQueue, resumeQueue } from '../../../src/jobs/pause.ts';
import { getJob } from '../../../src/jobs/read.ts';
import { releaseJob } from '../../../src/jobs/release.ts';
import { renewJobLease } from '../../../src/jobs/renew.ts';
import { takeReport } from '../../../src/jobs/report.ts';
import { retryJob } from '../../../src/jobs/retry.ts';
import { listEvents } from '../../../src/jobs/store-events.ts';
import { createSweeper } from '../../../src/loops/sweeper.ts';
import type { ClaimFloors } from '../../../src/queue/claim-floors.ts';
import { ClaimWaiters } from '../../../src/queue/claim-waiters.ts';
import { Queue } from '../../../src/queue/queue.ts';
import { upsertRepository } from '../../../src/repositories/upsert.ts';
import { upsertRunByRef } from '../../../src/runs/upsert.ts';
import { hooks } from '../../../src/start/app.ts';
import type { HubDeps } from '../../../src/start/hub-deps.ts';
import { developmentPrincipal } from '../../../src/tokens/authenticate-bearer.ts';
import { createUncertainty } from '../../../src/uncertainties/create.ts';
import { DecisionWaiters } from '../../../src/uncertainties/decision-waiters.ts';
import { addResolution } from '../../../src/uncertainties/resolve.ts';
import { hasDecisionRequest } from '../../../src/uncertainties/store.ts';
import { createWorkspace } from '../../../src/workspaces/create.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { openTestDatabase, testEngine } from '../../support/test-engine.ts';
import { AGENTS, type JobWords, presets, REPOSITORIES, shapes } from './commands.ts';
import type { Act, ActOf, Answer } from './records.ts';

const context: RequestContext = {
  requestId: 'req',
  principal: developmentPrincipal(),
  address: '127.0.0.1',
  userAgent: 'model',
  signal: new AbortController().signal,
  waitSignal: new AbortController().signal,
  cookies: {},
  pay() {},
  setCookie() {},
};
const { principal } = context;

type ClaimAct = ActOf<'claim'>;
/** How long claims wait; some steps take longer. */
const WAIT_MS = 30_000;

/** A hub's actions over a real database and a manual clock. */
export interface ModelHub {
  deps: HubDeps;
  clock: ManualClock;
  sweep(): Promise<void>;
}

export async function openModelHub(t: TestContext, floors?: ClaimFloors): Promise<ModelHub> {
  const clock = createManualClock();
  const database = await openTestDatabase(t, clock);
  const waiters = new ClaimWaiters(clock);
  const deps: HubDeps = {
    database,
    clock,
    ids: createIdSource(clock.nowMs),
    queue: new Queue((entry, agentId) => waiters.wakeFor(entry, agentId), floors),
    waiters,
    hooks,
    decisionWaiters: new DecisionWaiters(clock),
    sideThread: new SideThread(),
    secretKey: Buffer.alloc(32, 1),
  };
  const sweeper = createSweeper(deps, (error) => {
    throw error;
  });
  return { deps, clock, sweep: async () => void (await sweeper.runOnce()) };
}

/** One workspace of the hub, in which a sequence runs; ids are mapped to the model's numbers. */
export class HubWorkspace {
  readonly #hub: ModelHub;
  readonly #workspaceId: string;
  readonly #repoIds: string[] = [];
  readonly #agentIds: string[] = [];
  readonly #questionIds: string[] = [];
  #runId = '';
  #jobIds: string[] = [];
  #parked: { act: ClaimAct; client: AbortController; isOver: boolean }[] = [];
  readonly #ended: { act: ClaimAct; answer: () => Answer }[] = [];

  private constructor(hub: ModelHub, workspaceId: string) {
    this.#hub = hub;
    this.#workspaceId = workspaceId;
  }

  static async create(hub: ModelHub, slug: string): Promise<HubWorkspace> {
    const { deps } = hub;
    const row = await deps.database.write(null, (tx) =>
      createWorkspace(deps, tx, { slug, name: slug }),
    );
    const world = new HubWorkspace(hub, row.workspace_id);
    const workspaceId = row.workspace_id;
    for (let number = 0; number < REPOSITORIES; number++) {
      const made = await upsertRepository(deps, principal, {
        workspaceId,
        remoteUrlHash: hashOf(number),
      });
      world.#repoIds.push(made.row.repo_id);
    }
    for (let agent = 0; agent < AGENTS; agent++) {
      await world.#send({ type: 'agent', agent, status: 'online', preset: agent });
    }
    const run = await upsertRunByRef({ ...deps, hasDecisionRequest }, principal, {
      workspaceId,
      repoId: world.#repoIds[0] ?? '',
      runRef: 'run',
      status: 'in_progress',
    });
    world.#runId = run.runId;
    return world;
  }

  /**
   * Sends acts in one turn of the event loop, so that they share one transaction and take effect in
   * order. PostgreSQL does not guarantee the order, so there they are sent one by one.
   */
  async send(acts: readonly Act[]): Promise<Answer[]> {
    const answers: (() => Answer)[] = [];
    const bursts = testEngine === 'sqlite' ? [acts] : acts.map((act) => [act]);
    for (const burst of bursts) {
      answers.push(...(await Promise.all(burst.map((act) => this.#try(act)))));
      await this.#readJobIds();
    }
    return answers.map((answer) => answer());
  }

  async #try(act: Act): Promise<() => Answer> {
    try {
      return await this.#send(act);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return () => ({ code: error.code });
    }
  }

  /** Starts a claim that waits for a job. */
  park(act: ClaimAct): void {
    const parked = { act, client: new AbortController(), isOver: false };
    this.#parked.push(parked);
    void this.#claim(act, { ...context, waitSignal: parked.client.signal }, WAIT_MS).then(
      (answer) => {
        parked.isOver = true;
        this.#ended.push({ act, answer });
      },
    );
  }

  /** The claims that wait. */
  get parked(): ClaimAct[] {
    return this.#parked.map(({ act }) => act);
  }

  /** Waits until every claim waits or is answered. Returns the answered ones in order. */
  async settleParked(): Promise<{ act: ClaimAct; answer: Answer }[]> {
    const { database, waiters } = this.#hub.deps;
    let quiet = 0;
    while (quiet < 2) {
      // Woken claims look at the queue in actions of their own, before this one.
      await database.write(null, async () => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      this.#parked = this.#parked.filter(({ isOver }) => !isOver);
      quiet = waiters.count === this.#parked.length ? quiet + 1 : 0;
    }
    return this.#ended.splice(0).map(({ act, answer }) => ({ act, answer: answer() }));
  }

  async stopParked(): Promise<void> {
    for (const { client } of this.#parked) client.abort();
    await this.settleParked();
  }

  /** Every job as a reader sees it, and its timeline in the model's terms. */
  async readJobs(): Promise<{ job: Answer; timeline: string[] }[]> {
    const workspaceId = this.#workspaceId;
    const { reader } = this.#hub.deps.database;
    const read = this.#jobIds.map(async (jobId) => {
      const { job } = await getJob(this.#hub.deps, { workspaceId, jobId });
      const events = await listEvents(reader, workspaceId, jobId, { after: 0, limit: 1_000 });
      const timeline = events.map(({ kind, attempt, agent_id, data }) => {
        const isLate = kind === 'log' && data?.includes('"late":true');
        return `${isLate ? 'late' : kind} ${attempt} ${this.#agentOf(agent_id)}`;
      });
      return { job: this.#view(job), timeline };
    });
    return Promise.all(read);
  }

  /** Rows of a statement that checks an invariant; `?` is the workspace. */
  find(sql: string): Promise<unknown[]> {
    return this.#hub.deps.database.reader.allSql(sql, [this.#workspaceId]);
  }

  async #readJobIds(): Promise<void> {
    const rows = await this.#hub.deps.database.reader.allSql<{ job_id: string }>(
      'SELECT job_id FROM jobs WHERE workspace_id = ? ORDER BY job_id',
      [this.#workspaceId],
    );
    this.#jobIds = rows.map((row) => row.job_id);
  }

  /** Answers are mapped to numbers only once the ids of the jobs that they created are known. */
  async #send(act: Act): Promise<() => Answer> {
    const { deps } = this.#hub;
    const workspaceId = this.#workspaceId;
    switch (act.type) {
      case 'enqueue':
        return this.#enqueue(act);
      case 'claim':
        return this.#claim(act);
      case 'heartbeat':
        return this.#heartbeat(act);
      case 'report':
        return this.#report(act);
      case 'complete':
        return this.#complete(act);
      case 'cancel':
        return this.#job(cancelJob(deps, principal, this.#ref(act.job)));
      case 'retry':
        return this.#job(
          retryJob(deps, principal, { ...this.#ref(act.job), delayMs: act.delayMs }),
        );
      case 'setPriority':
        return this.#setPriority(act);
      case 'release':
        return this.#job(releaseJob(deps, principal, this.#ref(act.job)));
      case 'ask':
        return this.#ask(act.job);
      case 'answer':
        return this.#answer(act.question);
      case 'agent':
        return this.#introduce(act);
      case 'pause':
      case 'resume': {
        const repoId = act.repo === null ? undefined : this.#repoIds[act.repo];
        const turn = act.type === 'pause' ? pauseQueue : resumeQueue;
        await turn(deps, principal, { workspaceId, repoId });
        return () => ({});
      }
      case 'repository':
        await upsertRepository(deps, principal, {
          workspaceId,
          remoteUrlHash: hashOf(act.repo),
          status: act.active ? 'active' : 'archived',
        });
        return () => ({});
    }
  }

  async #setPriority(act: ActOf<'setPriority'>): Promise<() => Answer> {
    const { workspaceId, jobId } = this.#ref(act.job);
    const { results } = await changeJobs(this.#hub.deps, principal, {
      workspaceId,
      action: 'set_priority',
      jobs: [{ jobId }],
      priority: act.priority,
    });
    const { status, error: code } = results[0] ?? {};
    return () => (code === undefined ? { status } : { code });
  }

  async #enqueue(act: ActOf<'enqueue'>): Promise<() => Answer> {
    const { job, idempotent } = await enqueueJob(this.#hub.deps, principal, {
      workspaceId: this.#workspaceId,
      ...this.#jobFields(act),
      ...(act.idempotencyKey === null ? {} : { idempotencyKey: act.idempotencyKey }),
    });
    return () => ({ ...this.#view(job), idempotent: idempotent ?? false });
  }

  async #claim(act: ClaimAct, caller = context, waitMs = 0): Promise<() => Answer> {
    const { job, reason, ...claim } = await claimNextJob(this.#hub.deps, caller, {
      workspaceId: this.#workspaceId,
      agentId: this.#agentIds[act.agent] ?? '',
      leaseMs: act.leaseMs,
      waitMs,
      ...(act.claimKey === null ? {} : { claimKey: act.claimKey }),
      ...(act.kind === null ? {} : { kinds: [act.kind] }),
      ...(act.repo === null ? {} : { repoIds: [this.#repoIds[act.repo] ?? ''] }),
    });
    if (job === null) return () => ({ reason });
    return () => ({ ...this.#view(job), generation: claim.claimGeneration });
  }

  async #heartbeat(act: ActOf<'heartbeat'>): Promise<() => Answer> {
    const answer = await renewJobLease(this.#hub.deps, context, {
      ...this.#held(act),
      leaseMs: act.leaseMs,
      shorten: act.shorten,
      ...(act.message ? { message: 'Continuing.' } : {}),
    });
    return () => ({
      leaseEndsAt: Date.parse(answer.leaseExpiresAt),
      cancelAsked: answer.cancelRequested,
      commands: answer.commands.map(({ jobId }) => this.#jobOf(jobId ?? '')),
    });
  }

  async #report(act: ActOf<'report'>): Promise<() => Answer> {
    const { deps } = this.#hub;
    const workspaceId = this.#workspaceId;
    const agentId = this.#agentIds[act.agent] ?? '';
    const partOf = (part: { job: number; generation: number | null }) => {
      const { jobId, claimGeneration } = this.#held({ ...part, agent: act.agent });
      return { jobId, ...(claimGeneration !== undefined && { claimGeneration }) };
    };
    const answer = await takeReport(deps, context, {
      workspaceId,
      agentId,
      ...(act.beat !== null && { heartbeat: this.#beatOf(act.agent, act.beat) }),
      renewals: act.renewals.map(({ leaseMs, message, ...part }) => ({
        ...partOf(part),
        leaseMs,
        shorten: false,
        ...(message && { message: 'Continuing.' }),
      })),
      outputs: act.outputs.map(({ lines, ...part }) => ({
        ...partOf(part),
        entries: Array.from({ length: lines }, (_, at) => ({ logSeq: at + 1, message: 'ok' })),
      })),
    });
    const [agent] = await deps.database.reader.allSql<{ last_seen_at: number }>(
      'SELECT last_seen_at FROM agents WHERE workspace_id = ? AND agent_id = ?',
      [workspaceId, agentId],
    );
    return () => ({
      // Other commands of the burst may be signs of life as well.
      seenAt: answer.heartbeat === undefined ? null : agent?.last_seen_at,
      commands: answer.commands.map(({ jobId }) => this.#jobOf(jobId ?? '')),
      renewals: answer.renewals.map(({ error, leaseExpiresAt, cancelRequested }) =>
        error === undefined
          ? { leaseEndsAt: Date.parse(leaseExpiresAt ?? ''), cancelAsked: cancelRequested }
          : { code: error },
      ),
      outputs: answer.outputs.map(({ error, appended, lastLogSeq, cancelRequested }) =>
        error === undefined
          ? { appended, lines: lastLogSeq, cancelAsked: cancelRequested ?? false }
          : { code: error },
      ),
    });
  }

  async #complete(act: ActOf<'complete'>): Promise<() => Answer> {
    const retry = { retryable: true, recommendedDelayMs: act.retryDelayMs ?? 0 };
    const { result, job } = await completeJob(this.#hub.deps, context, {
      ...this.#held(act),
      outcome: act.outcome,
      message: act.words,
      ...(act.retryDelayMs === null ? {} : { outcomeReason: retry }),
      children: act.child === null ? [] : [this.#jobFields(act.child)],
    });
    return () => ({
      result: result.status,
      outcome: result.outcome,
      idempotent: result.idempotent,
      spawned: (result.spawnedJobIds ?? []).map((jobId) => this.#jobOf(jobId)),
      ...this.#view(job),
    });
  }

  async #ask(number: number): Promise<() => Answer> {
    const answer = await createUncertainty(this.#hub.deps, principal, {
      ...this.#ref(number),
      runId: this.#runId,
      prompt: 'Which?',
      kind: 'choice',
      context: '',
      confidence: 0.1,
      impact: '',
      reversibility: '',
      assumedValue: 'this',
      assumedReasoning: '',
      autoPromoteThreshold: 0.7,
      options: [],
      onDeadline: 'keep_waiting',
    });
    this.#questionIds.push(answer.uncertaintyId);
    return () => ({});
  }

  async #answer(question: number): Promise<() => Answer> {
    await addResolution(this.#hub.deps, principal, {
      workspaceId: this.#workspaceId,
      uncertaintyId: this.#questionIds[question] ?? '',
      mode: 'answered',
      value: 'that',
      confidence: 1,
      supersede: false,
      undoMs: 0,
    });
    return () => ({});
  }

  async #introduce(act: ActOf<'agent'>): Promise<() => Answer> {
    const { agentId } = await recordHeartbeat(this.#hub.deps, principal, {
      workspaceId: this.#workspaceId,
      ...this.#beatOf(act.agent, act),
    });
    this.#agentIds[act.agent] = agentId;
    return () => ({});
  }

  #beatOf(agent: number, { status, preset }: Pick<ActOf<'agent'>, 'status' | 'preset'>) {
    const { capabilities, serves } = presets[preset] ?? presets[0];
    const reposAllowed = serves.map((repo) => this.#repoIds[repo] ?? '');
    return {
      displayName: `agent ${agent}`,
      machineFingerprint: `agent ${agent}`,
      status,
      capabilities: { ...capabilities, reposAllowed },
    };
  }

  async #job(job: Promise<Job>): Promise<() => Answer> {
    const answered = await job;
    return () => this.#view(answered);
  }

  #ref(number: number) {
    return { workspaceId: this.#workspaceId, jobId: this.#jobIds[number] ?? '' };
  }

  #held(act: { job: number; agent: number; generation: number | null }) {
    const claimGeneration = act.generation === null ? {} : { claimGeneration: act.generation };
    return { ...this.#ref(act.job), agentId: this.#agentIds[act.agent] ?? '', ...claimGeneration };
  }

  #jobFields(words: JobWords) {
    const shape = shapes[words.shape] ?? shapes[0];
    return {
      repoId: this.#repoIds[words.repo] ?? '',
      kind: shape.kind,
      role: 'implementer',
      prompt: 'Do it.',
      ...(shape.requirements === undefined ? {} : { requirements: shape.requirements }),
      priority: words.priority,
      maxAttempts: words.maxAttempts,
      delayMs: words.delayMs,
      dependsOn: words.dependsOn === null ? [] : [this.#ref(words.dependsOn).jobId],
      ...(words.key === null ? {} : { concurrencyKey: words.key }),
    };
  }

  #view(job: Job): Answer {
    const { leaseExpiresAt, waitingOnUncertaintyId: waitsOn } = job;
    return {
      job: this.#jobOf(job.jobId),
      status: job.status,
      attempt: job.attempt,
      maxAttempts: job.maxAttempts,
      agent: this.#agentOf(job.agentId),
      leaseEndsAt: leaseExpiresAt === null ? null : Date.parse(leaseExpiresAt),
      availableAt: Date.parse(job.availableAt),
      cancelAsked: job.cancelRequestedAt !== null,
      outcome: job.outcome,
      answers: job.decisions.map(({ uncertaintyId }) => this.#questionIds.indexOf(uncertaintyId)),
      waitsOn: waitsOn === null ? null : this.#questionIds.indexOf(waitsOn),
    };
  }

  #jobOf(jobId: string): number {
    return this.#jobIds.indexOf(jobId);
  }

  #agentOf(agentId: string | null): number | null {
    return agentId === null ? null : this.#agentIds.indexOf(agentId);
  }
}

function hashOf(repository: number): string {
  return String(repository).padStart(64, '0');
}
