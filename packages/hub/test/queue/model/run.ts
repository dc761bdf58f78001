import assert from 'node:assert/strict';
import {
  AGENTS,
  type ClaimWords,
  type Command,
  NO_JOB,
  type ReportWords,
  type Step,
} from './commands.ts';
import type { HubWorkspace, ModelHub } from './hub.ts';
import { QueueInvariants } from './invariants.ts';
import { QueueModel } from './model.ts';
import type { Act, Answer } from './records.ts';

type Sent = Extract<Act, { type: 'complete' }>;

/** One sequence against a workspace of its own and a model of it. */
export class ModelRun {
  readonly #hub: ModelHub;
  readonly #workspace: HubWorkspace;
  readonly #model: QueueModel;
  readonly #invariants = new QueueInvariants();
  #latest: Sent | null = null;
  count = 0;

  constructor(hub: ModelHub, workspace: HubWorkspace) {
    this.#hub = hub;
    this.#workspace = workspace;
    this.#model = new QueueModel(hub.clock.nowMs(), AGENTS);
  }

  async take(step: Step): Promise<void> {
    if ('advanceMs' in step) await this.#advance(step);
    else if ('park' in step) this.#workspace.park(step.park);
    else await this.#send(step.burst.flatMap((command) => this.#settle(command)));
    await this.#invariants.checkDatabase(this.#workspace);
  }

  /**
   * Lets the waiting claims take the jobs that they were woken for, in the order in which they took
   * them. The jobs then left match none of the claims, or a wake was missed.
   */
  async settleWaits(): Promise<void> {
    for (const { act, answer } of await this.#workspace.settleParked()) {
      // A claim that timed out looked at the queue before now.
      if ('reason' in answer) continue;
      assert.deepEqual(answer, this.#model.apply(act), JSON.stringify(act));
      this.#invariants.observe(act, answer);
    }
    for (const act of this.#workspace.parked) {
      const [answer] = await this.#send([act]);
      assert.ok(answer && 'reason' in answer, `a wake was missed: ${JSON.stringify(act)}`);
    }
  }

  /** Brings every job to an end: no acknowledged job is lost or stuck. */
  async drain(): Promise<void> {
    const { jobs, agents } = this.#model;
    const open: Act[] = [{ type: 'resume', repo: null }];
    for (const repo of [0, 1]) {
      open.push({ type: 'resume', repo }, { type: 'repository', repo, active: true });
    }
    for (const agent of agents.keys()) {
      open.push({ type: 'agent', agent, status: 'online', preset: 0 });
    }
    await this.#send(open);
    // Each round ends an attempt of a job, and attempts are few.
    for (let round = 0; jobs.some(({ status }) => status === 'pending' || status === 'running'); ) {
      assert.ok(++round < 1_000, 'the queue drains');
      await this.#advance({ advanceMs: 61_000, sweep: true });
      const claims = jobs.map((_, number) => ({
        type: 'claim' as const,
        agent: number % AGENTS,
        leaseMs: 60_000,
        claimKey: null,
        kind: null,
        repo: null,
      }));
      const answers = await this.#send(claims);
      await this.#send(answers.flatMap((answer) => completionOf(answer)));
      if (!answers.every((answer) => 'reason' in answer)) continue;
      // The jobs left wait for jobs that ended, but not as done.
      const cancels = [...jobs.keys()].map((job) => ({ type: 'cancel' as const, job }));
      await this.#send(cancels);
    }
  }

  async compareEnd(): Promise<void> {
    const jobs = await this.#workspace.readJobs();
    const expected = this.#model.jobs.map((job) => ({
      job: this.#model.view(job),
      timeline: job.timeline,
    }));
    assert.deepEqual(jobs, expected);
  }

  async #advance({ advanceMs, sweep }: Extract<Step, { advanceMs: number }>): Promise<void> {
    this.#hub.clock.advance(advanceMs);
    this.#model.nowMs = this.#hub.clock.nowMs();
    if (!sweep) return;
    await this.#hub.sweep();
    this.#model.sweep();
    await this.#invariants.checkSwept(this.#workspace, this.#model.nowMs);
  }

  async #send(acts: Act[]): Promise<Answer[]> {
    const expected = acts.map((act) => this.#model.apply(act));
    const answers = await this.#workspace.send(acts);
    this.count += acts.length;
    for (const [at, act] of acts.entries()) {
      assert.deepEqual(answers[at], expected[at], JSON.stringify(act));
      this.#invariants.observe(act, answers[at] ?? {});
    }
    return answers;
  }

  /** Maps numbers to existing things, and resolves which agent claims to hold which generation. */
  #settle(command: Command): Act[] {
    const { jobs } = this.#model;
    const dependsOn = (number: number | null) => {
      if (number === null || number === NO_JOB) return number;
      return jobs.length === 0 ? null : number % jobs.length;
    };
    switch (command.type) {
      case 'enqueue':
        return [{ ...command, dependsOn: dependsOn(command.dependsOn) }];
      case 'replay':
        return this.#settleReplay(command.job);
      case 'answer':
        return this.#settleQuestion(command.question);
      case 'heartbeat':
        return jobs.length === 0 ? [] : [{ ...command, ...this.#settleClaim(command) }];
      case 'report':
        return [this.#settleReport(command)];
      case 'complete': {
        if (jobs.length === 0) return [];
        const child = command.child && {
          ...command.child,
          dependsOn: dependsOn(command.child.dependsOn),
        };
        const completion = { ...command, ...this.#settleClaim(command), child };
        this.#latest = completion;
        return [completion];
      }
      case 'cancel':
      case 'release':
      case 'retry':
      case 'setPriority':
      case 'ask':
        return jobs.length === 0 ? [] : [{ ...command, job: this.#settleJob(command.job) }];
      default:
        return [command];
    }
  }

  #settleReport({ renewals, outputs, ...command }: ReportWords): Act {
    const hasJobs = this.#model.jobs.length > 0;
    const settle = (part: Pick<ClaimWords, 'job' | 'generation'>) => {
      const { job, generation } = this.#settleClaim({ ...part, agent: 'holder' });
      return { job, generation };
    };
    const settled = {
      renewals: (hasJobs ? renewals : []).map((part) => ({ ...part, ...settle(part) })),
      outputs: (hasJobs ? outputs : []).map((part) => ({ ...part, ...settle(part) })),
    };
    const first = settled.renewals[0] ?? settled.outputs[0];
    const holder = first === undefined ? null : this.#model.job(first.job).agent;
    const agent = command.agent === 'holder' ? (holder ?? 0) : command.agent;
    return { ...command, ...settled, agent };
  }

  #settleReplay(number: number): Act[] {
    const { jobs } = this.#model;
    const sent = jobs[jobs.length === 0 ? 0 : this.#settleJob(number)]?.accepted?.sent;
    if (sent !== undefined) return [JSON.parse(sent) as Sent];
    return this.#latest === null ? [] : [this.#latest];
  }

  /** Mostly a question whose job is blocked, so that an answer resumes it. */
  #settleQuestion(number: number): Act[] {
    const { questions } = this.#model;
    const all = [...questions.keys()];
    const waited = all.filter((at) => {
      const { open, job } = questions[at] ?? {};
      return open && this.#model.job(job ?? 0).status === 'blocked';
    });
    const among = waited.length > 0 && number % 4 !== 0 ? waited : all;
    const question = among[number % among.length];
    return question === undefined ? [] : [{ type: 'answer', question }];
  }

  #settleClaim({ job: number, agent, generation }: ClaimWords) {
    const job = this.#settleJob(number);
    const { attempt, agent: holder } = this.#model.job(job);
    const generations = { current: attempt, older: attempt - 1, none: null };
    return {
      job,
      agent: agent === 'holder' ? (holder ?? 0) : agent,
      generation: generations[generation],
    };
  }

  /** Mostly a running or blocked job: writes to others occur often enough anyway. */
  #settleJob(number: number): number {
    const all = [...this.#model.jobs.keys()];
    const held = all.filter((at) => ['running', 'blocked'].includes(this.#model.job(at).status));
    const among = held.length > 0 && number % 4 !== 0 ? held : all;
    return among[number % among.length] ?? 0;
  }
}

function completionOf(claimed: Answer): Act[] {
  const { job, agent, generation } = claimed;
  if (typeof job !== 'number' || typeof agent !== 'number') return [];
  const outcome = { outcome: 'done' as const, retryDelayMs: null, words: '', child: null };
  return [{ type: 'complete', job, agent, generation: Number(generation), ...outcome }];
}
