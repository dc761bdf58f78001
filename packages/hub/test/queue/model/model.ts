import { type JobWords, NO_JOB, presets, REPOSITORIES, shapes } from './commands.ts';
import type { Act, ActOf, Answer, ModelAgent, ModelJob, SentClaim } from './records.ts';

/*
 * The queue of the contract (sections 4 and 5) as a pure model: plain objects, no SQL, no lanes,
 * no holds; every rule is a predicate over all jobs. The hub must give the same answers as the
 * model, and every job must end as in the model.
 */

const PRIORITY_POINT_MS = 600_000;
const PREFERENCE_MS = 60_000;
const AGENT_AWAY_AFTER_MS = 45_000;
const SIGN_OF_LIFE_MS = 10_000;
const application: JobWords = {
  repo: 0,
  shape: 0,
  priority: 0,
  delayMs: 0,
  dependsOn: null,
  key: null,
  maxAttempts: 5,
};

export class QueueModel {
  nowMs: number;
  readonly jobs: ModelJob[] = [];
  readonly questions: { job: number; open: boolean; heir: number | null; seen: boolean }[] = [];
  readonly agents: ModelAgent[];
  readonly repositories = Array.from({ length: REPOSITORIES }, () => ({
    paused: false,
    active: true,
  }));
  paused = false;
  readonly #keys = new Map<string, { body: string; answer: Answer }>();

  constructor(nowMs: number, agents: number) {
    this.nowMs = nowMs;
    this.agents = Array.from({ length: agents }, (_, number) => ({
      status: 'online',
      preset: presets[number] ?? presets[0],
      seenAtMs: nowMs,
    }));
  }

  apply(act: Act): Answer {
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
        return this.#cancel(this.job(act.job));
      case 'retry':
        return this.#retry(this.job(act.job), act.delayMs);
      case 'setPriority':
        return this.#setPriority(this.job(act.job), act.priority);
      case 'release':
        return this.#release(this.job(act.job));
      case 'ask':
        this.questions.push({ job: act.job, open: true, heir: null, seen: false });
        return {};
      case 'answer':
        return this.#answer(act.question);
      case 'agent':
        this.#introduce(act.agent, act);
        return {};
      default:
        return this.#govern(act);
    }
  }

  job(number: number): ModelJob {
    return this.jobs[number] as ModelJob;
  }

  view(job: ModelJob): Answer {
    const running = job.status === 'running';
    const number = this.jobs.indexOf(job);
    const waitsOn = this.questions.findIndex((asked) => asked.job === number && asked.open);
    return {
      job: number,
      status: job.status,
      attempt: job.attempt,
      maxAttempts: job.maxAttempts,
      agent: job.agent,
      leaseEndsAt: running ? job.leaseEndsAt : null,
      availableAt: job.availableAt,
      cancelAsked: job.cancelAsked,
      outcome: job.outcome,
      answers: [...job.answers],
      waitsOn: job.status === 'blocked' && waitsOn >= 0 ? waitsOn : null,
    };
  }

  /** The sweeper: expired leases are recovered, and due jobs become ready. */
  sweep(): void {
    for (const job of this.jobs) {
      if (job.status === 'running' && (job.leaseEndsAt ?? 0) <= this.nowMs) this.#recover(job);
    }
    for (const job of this.jobs) {
      if (job.availableAt <= this.nowMs) job.sleeps = false;
      if (job.keptFor !== null && job.keptFor.untilMs <= this.nowMs) job.keptFor = null;
    }
  }

  #enqueue({ idempotencyKey: key, ...words }: ActOf<'enqueue'>): Answer {
    const body = JSON.stringify(words);
    const known = key === null ? undefined : this.#keys.get(key);
    if (known !== undefined) {
      if (known.body !== body) return { code: 'IDEMPOTENCY_CONFLICT' };
      return { ...known.answer, idempotent: true };
    }
    if (words.dependsOn === NO_JOB) return { code: 'JOB_NOT_FOUND' };
    const job = this.#make(words);
    this.jobs.push(job);
    const answer = this.view(job);
    if (key !== null) this.#keys.set(key, { body, answer });
    return { ...answer, idempotent: false };
  }

  #make(words: JobWords, kind?: string): ModelJob {
    const shape = shapes[words.shape] ?? shapes[0];
    const availableAt = this.nowMs + words.delayMs;
    return {
      words,
      kind: kind ?? shape.kind,
      asks: shape.asks,
      mayWrite: shape.asks.includes('write'),
      inRun: false,
      sortKey: this.nowMs - words.priority * PRIORITY_POINT_MS,
      status: 'pending',
      attempt: 0,
      maxAttempts: words.maxAttempts,
      agent: null,
      leaseEndsAt: null,
      availableAt,
      sleeps: availableAt > this.nowMs,
      keptFor: null,
      claimKey: null,
      cancelAsked: false,
      outcome: null,
      accepted: null,
      late: new Set(),
      holders: new Set(),
      foldsHeartbeats: false,
      lines: 0,
      answers: [],
      timeline: ['enqueued 0 null'],
    };
  }

  #claim(act: ActOf<'claim'>): Answer {
    const agent = this.#agent(act.agent);
    if (this.nowMs - agent.seenAtMs > SIGN_OF_LIFE_MS) agent.seenAtMs = this.nowMs;
    const held = this.#heldBy(act.agent);
    const again = held.find((job) => job.claimKey !== null && job.claimKey === act.claimKey);
    if (again !== undefined) return this.#grant(again);
    if (agent.status !== 'online') return { reason: 'agent_draining' };
    if (held.length >= agent.preset.most) return { reason: 'agent_at_capacity' };
    const asked = agent.preset.serves.filter((repo) => act.repo === null || act.repo === repo);
    if (asked.length === 0) return { reason: 'no_repositories_served' };
    const isOpen = (repo: number) => !this.paused && !this.repositories[repo]?.paused;
    if (!asked.some(isOpen)) return { reason: 'queue_paused' };
    const inReach = () =>
      this.jobs.filter(
        ({ status, kind, words: { repo } }) =>
          status === 'pending' &&
          (act.kind === null || act.kind === kind) &&
          asked.includes(repo) &&
          this.repositories[repo]?.active,
      );
    const open = () => inReach().filter(({ words: { repo } }) => isOpen(repo));
    const suits = ({ asks }: ModelJob) => asks.every((ask) => agent.preset.offers.includes(ask));
    let job = this.#findNext(open().filter(suits), act.agent);
    if (job === undefined) {
      this.sweep();
      job = this.#findNext(open().filter(suits), act.agent);
    }
    if (job !== undefined) return this.#start(job, act);
    if (open().some(suits)) return { reason: 'waiting_on_dependencies' };
    if (open().length > 0) return { reason: 'no_matching_capabilities' };
    return { reason: inReach().length > 0 ? 'queue_paused' : 'no_pending_jobs' };
  }

  /** Jobs kept for the agent go first; then by priority and age. */
  #findNext(candidates: ModelJob[], agent: number): ModelJob | undefined {
    // The sort is stable, and jobs are in the order of their creation.
    const inOrder = candidates.sort((a, b) => a.sortKey - b.sortKey);
    for (const job of inOrder.filter(({ keptFor }) => keptFor?.agent === agent)) {
      if (this.#isKeyFree(job)) return job;
      job.keptFor = null;
    }
    return inOrder.find(
      (job) =>
        job.keptFor === null && !job.sleeps && this.#dependenciesDone(job) && this.#isKeyFree(job),
    );
  }

  #isKeyFree({ words: { key } }: ModelJob): boolean {
    return !this.jobs.some(
      ({ status, words }) => status === 'running' && key !== null && words.key === key,
    );
  }

  #dependenciesDone({ words: { dependsOn } }: ModelJob): boolean {
    return dependsOn === null || this.job(dependsOn).status === 'done';
  }

  #start(job: ModelJob, { agent, leaseMs, claimKey }: ActOf<'claim'>): Answer {
    job.status = 'running';
    job.attempt += 1;
    job.leaseEndsAt = this.nowMs + leaseMs;
    Object.assign(job, { agent, claimKey, keptFor: null, foldsHeartbeats: false, lines: 0 });
    job.holders.add(agent);
    this.#log(job, 'claimed', agent);
    return this.#grant(job);
  }

  #grant(job: ModelJob): Answer {
    this.#noteSeen(job);
    return { ...this.view(job), generation: job.attempt };
  }

  #heartbeat({ leaseMs, shorten, message, ...act }: ActOf<'heartbeat'>): Answer {
    const job = this.job(act.job);
    const code = this.#checkClaim(job, act);
    if (code !== null) return { code };
    const current = job.leaseEndsAt ?? 0;
    const wanted = shorten ? this.nowMs + leaseMs : Math.max(this.nowMs + leaseMs, current);
    if (!job.cancelAsked || wanted < current) job.leaseEndsAt = wanted;
    if (message || !job.foldsHeartbeats) this.#log(job, 'heartbeat', job.agent);
    if (!message) job.foldsHeartbeats = true;
    const { leaseEndsAt, cancelAsked } = job;
    return { leaseEndsAt, cancelAsked, commands: this.#commandsFor(act.agent) };
  }

  /** A heartbeat, renewals and output, each by its own rules; a refusal is one of its part. */
  #report({ agent, beat, renewals, outputs }: ActOf<'report'>): Answer {
    if (beat !== null) this.#introduce(agent, beat);
    const renewed = renewals.map((renewal) => {
      const words = { type: 'heartbeat' as const, shorten: false, agent };
      const { commands: _together, ...answer } = this.#heartbeat({ ...words, ...renewal });
      return answer;
    });
    const appended = outputs.map((output) => this.#append({ ...output, agent }));
    const hasCommands = beat !== null || renewals.length > 0;
    return {
      seenAt: beat === null ? null : this.nowMs,
      commands: hasCommands ? this.#commandsFor(agent) : [],
      renewals: renewed,
      outputs: appended,
    };
  }

  #append({ lines, ...act }: SentClaim & { job: number; lines: number }): Answer {
    const job = this.job(act.job);
    const code = this.#checkClaim(job, act);
    if (code !== null) return { code };
    const appended = Math.max(0, lines - job.lines);
    for (let count = 0; count < appended; count++) this.#log(job, 'log', act.agent);
    job.lines += appended;
    return { appended, lines: job.lines, cancelAsked: job.cancelAsked };
  }

  #introduce(agent: number, { status, preset }: Pick<ActOf<'agent'>, 'status' | 'preset'>): void {
    const known = presets[preset] ?? presets[0];
    this.agents[agent] = { status, preset: known, seenAtMs: this.nowMs };
  }

  /** The jobs that the agent must stop. */
  #commandsFor(agent: number): number[] {
    const toCancel = this.#heldBy(agent).filter(({ cancelAsked }) => cancelAsked);
    return toCancel.map((job) => this.jobs.indexOf(job));
  }

  #complete(act: ActOf<'complete'>): Answer {
    const job = this.job(act.job);
    const { accepted } = job;
    const sent = JSON.stringify(act);
    const holdsLater =
      job.status === 'running' && job.agent === act.agent && job.attempt !== accepted?.attempt;
    if (accepted?.sent === sent && (act.generation !== null || !holdsLater)) {
      return { ...accepted.answer, idempotent: true, ...this.view(job) };
    }
    const code = this.#checkClaim(job, act);
    if (code === null && !job.cancelAsked) {
      // A completion with an invalid child changes nothing; children of a retried one do not count.
      const isOutside = act.child !== null && !this.#isInReach(job, act.child);
      if (isOutside && !this.#isRetried(job, act)) return { code: 'INVALID_REQUEST' };
      return this.#accept(job, act, sent);
    }
    if (code === null) this.#end(job, 'canceled');
    if (job.holders.has(act.agent) && !job.late.has(sent)) {
      job.late.add(sent);
      job.timeline.push(`late ${act.generation ?? job.attempt} ${act.agent}`);
    }
    if (code === null) this.#log(job, 'canceled', act.agent);
    return { code: code ?? 'JOB_CANCELED' };
  }

  #accept(job: ModelJob, act: ActOf<'complete'>, sent: string): Answer {
    const { attempt } = job;
    const isRetried = this.#isRetried(job, act);
    if (isRetried) this.#putBack(job, act.retryDelayMs ?? 0);
    else this.#end(job, act.outcome);
    const spawned = act.child === null || isRetried ? [] : [this.#spawn(job, act.child)];
    this.#log(job, act.outcome === 'done' ? 'completed' : act.outcome, act.agent);
    const unseen = this.questions.filter(
      ({ heir, seen }) => this.jobs[heir ?? -1] === job && !seen,
    );
    if (job.status === 'blocked' && unseen.length > 0) this.#resume(job);
    if (job.status === 'done') for (const question of unseen) this.#handOn(job, question);
    job.outcome = job.status === 'pending' ? null : act.outcome;
    const answer = { result: job.status, outcome: act.outcome, spawned, idempotent: false };
    job.accepted = { sent, attempt, answer };
    return { ...answer, ...this.view(job) };
  }

  /** A child is in the repository of its parent, and depends on what its parent or run has. */
  #isInReach(parent: ModelJob, { repo, key, dependsOn }: JobWords): boolean {
    const { words } = parent;
    if (repo !== words.repo || (key !== null && key !== words.key)) return false;
    if (dependsOn === null || dependsOn === words.dependsOn) return true;
    const dependency = this.jobs[dependsOn];
    return dependency === parent || (parent.inRun && dependency?.inRun === true);
  }

  /** Adds a child within the limits of its parent. */
  #spawn(parent: ModelJob, told: JobWords, kind?: string): number {
    const priority = Math.min(told.priority, parent.words.priority);
    const child = this.#make({ ...told, priority }, kind);
    child.mayWrite &&= parent.mayWrite || kind !== undefined;
    const own = child.asks.filter((ask) => ask !== 'write' || child.mayWrite);
    child.asks = [...new Set([...own, ...parent.asks])];
    child.inRun = parent.inRun || kind !== undefined;
    if (kind === undefined) child.maxAttempts = Math.min(told.maxAttempts, parent.maxAttempts);
    return this.jobs.push(child) - 1;
  }

  #isRetried(job: ModelJob, { outcome, retryDelayMs }: ActOf<'complete'>): boolean {
    return outcome !== 'done' && retryDelayMs !== null && job.attempt < job.maxAttempts;
  }

  #cancel(job: ModelJob): Answer {
    if (job.status === 'done' || job.status === 'failed') return { code: 'JOB_ALREADY_FINISHED' };
    if (job.status === 'running') {
      if (!job.cancelAsked) this.#log(job, 'heartbeat', null);
      job.cancelAsked = true;
    } else if (job.status !== 'canceled') {
      this.#end(job, 'canceled');
      this.#log(job, 'canceled', null);
    }
    return this.view(job);
  }

  #retry(job: ModelJob, delayMs: number): Answer {
    if (job.status === 'canceled') return { code: 'JOB_CANCELED' };
    if (job.status === 'done') return { code: 'JOB_ALREADY_FINISHED' };
    if (job.status === 'pending' || job.status === 'running') return { code: 'INVALID_REQUEST' };
    job.maxAttempts = Math.max(job.maxAttempts, job.attempt + 1);
    this.#putBack(job, delayMs);
    this.#log(job, 'enqueued', null);
    return this.view(job);
  }

  #setPriority(job: ModelJob, priority: number): Answer {
    if (job.status === 'canceled') return { code: 'JOB_CANCELED' };
    if (job.status === 'done' || job.status === 'failed') return { code: 'JOB_ALREADY_FINISHED' };
    job.sortKey += (job.words.priority - priority) * PRIORITY_POINT_MS;
    job.words = { ...job.words, priority };
    return { status: job.status };
  }

  #release(job: ModelJob): Answer {
    if (job.status !== 'running') return { code: 'JOB_NOT_RUNNING' };
    this.#recover(job);
    return this.view(job);
  }

  #recover(job: ModelJob): void {
    this.#log(job, 'recovered', job.agent);
    if (job.cancelAsked) {
      this.#end(job, 'canceled');
      this.#log(job, 'canceled', job.agent);
    } else if (job.attempt >= job.maxAttempts) {
      this.#end(job, 'failed');
      job.outcome = 'failed';
      this.#log(job, 'failed', job.agent);
    } else this.#putBack(job, 0);
  }

  #putBack(job: ModelJob, delayMs: number): void {
    const availableAt = this.nowMs + delayMs;
    const place = { availableAt, sleeps: delayMs > 0, keptFor: null, claimKey: null };
    Object.assign(job, { status: 'pending', outcome: null, leaseEndsAt: null, ...place });
  }

  #end(job: ModelJob, status: ModelJob['status']): void {
    Object.assign(job, { status, leaseEndsAt: null, claimKey: null, keptFor: null });
    if (status === 'failed' || status === 'canceled') {
      for (const question of this.questions) {
        if (this.jobs[question.job] === job) question.open = false;
      }
    }
    if (status !== 'done') return;
    for (const waiting of this.jobs) {
      if (this.jobs[waiting.words.dependsOn ?? -1] !== job) continue;
      waiting.sleeps = waiting.availableAt > this.nowMs;
    }
  }

  #checkClaim(job: ModelJob, { agent, generation }: SentClaim): string | null {
    if (generation !== null && generation !== job.attempt) return 'CLAIM_GENERATION_MISMATCH';
    if (job.status === 'running') return job.agent === agent ? null : 'LEASE_LOST';
    if (job.status === 'pending') return job.agent === agent ? 'LEASE_LOST' : 'JOB_NOT_RUNNING';
    if (job.status === 'blocked') return 'JOB_NOT_RUNNING';
    return job.status === 'canceled' ? 'JOB_CANCELED' : 'JOB_ALREADY_FINISHED';
  }

  /** An answer goes to the job that asked while it can resume, and else to a new job. */
  #answer(number: number): Answer {
    const question = this.questions[number];
    if (question === undefined) throw new Error('no such question');
    if (!question.open) return { code: 'ALREADY_RESOLVED' };
    question.open = false;
    const job = this.job(question.job);
    if (!['blocked', 'pending', 'running'].includes(job.status)) this.#handOn(null, question);
    else {
      job.answers.push(number);
      Object.assign(question, { heir: question.job, seen: false });
      if (job.status === 'blocked') this.#resume(job);
      else this.#log(job, 'heartbeat', null);
    }
    return {};
  }

  #handOn(from: ModelJob | null, question: QueueModel['questions'][number]): void {
    const number = this.questions.indexOf(question);
    if (from !== null) from.answers = from.answers.filter((answer) => answer !== number);
    const heir = this.#spawn(this.job(question.job), application, 'apply_decision');
    Object.assign(question, { heir, seen: true });
  }

  /** Back to pending, kept for a minute for the agent that held it unless that is offline. */
  #resume(job: ModelJob): void {
    const agent = this.#agent(job.agent ?? -1);
    const isThere = this.nowMs - agent.seenAtMs < AGENT_AWAY_AFTER_MS && agent.status === 'online';
    job.maxAttempts = Math.max(job.maxAttempts, job.attempt + 1);
    this.#putBack(job, 0);
    if (isThere && this.#isKeyFree(job)) {
      job.keptFor = { agent: job.agent ?? -1, untilMs: this.nowMs + PREFERENCE_MS };
    }
    this.#log(job, 'enqueued', null);
  }

  #noteSeen(job: ModelJob): void {
    for (const question of this.questions) {
      if (this.jobs[question.heir ?? -1] === job) question.seen = true;
    }
  }

  #govern(act: ActOf<'pause' | 'resume' | 'repository'>): Answer {
    const repository = this.repositories[act.repo ?? -1];
    if (act.type === 'repository') Object.assign(repository ?? {}, { active: act.active });
    else if (repository === undefined) this.paused = act.type === 'pause';
    else repository.paused = act.type === 'pause';
    return {};
  }

  #agent(number: number) {
    const agent = this.agents[number];
    if (agent === undefined) throw new Error(`no agent ${number}`);
    return agent;
  }

  #heldBy(agent: number): ModelJob[] {
    return this.jobs.filter((job) => job.status === 'running' && job.agent === agent);
  }

  #log(job: ModelJob, kind: string, agent: number | null): void {
    job.timeline.push(`${kind} ${job.attempt} ${agent}`);
  }
}
