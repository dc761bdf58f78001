import { endpoints } from '@signalbox/contract';
import type { Connection, Target } from './connection.ts';
import {
  type Claim,
  formatHead,
  formatPost,
  type LoadAgent,
  prompt,
  type Queue,
  readClaim,
  requireOk,
} from './hub-calls.ts';

const LEASE_MS = 60_000;
/** As our agents do. */
const CLAIM_WAIT_MS = 25_000;

/** 1 KB of what a test run prints, as JSON. */
const printed = 'ok 1 - the health check answers within its limit\n'.repeat(21);
const outputText = JSON.stringify(`${printed.slice(0, 1_023)}\n`);

/** The calls of the fleet, by the name under which they are reported. */
export const fleetCalls = [
  'output',
  'renew',
  'heartbeat',
  'complete',
  'enqueue',
  'claim',
  'watch',
] as const;
export type FleetCall = (typeof fleetCalls)[number];

/** Notes when a call was due and when it was answered. */
export type NoteCall = (call: FleetCall, dueMs: number) => void;

/**
 * An agent at work, with one connection for all its calls. A call that is due while another is not
 * answered yet is sent after it, and output that became due meanwhile is sent in one call, as our
 * agents do.
 */
export class FleetAgent {
  readonly #connection: Connection;
  readonly #heads: Readonly<Record<'output' | 'renew' | 'complete', string>>;
  readonly #enqueue: string;
  readonly #claim: string;
  readonly #heartbeat: string;
  readonly #start: string;
  readonly #note: NoteCall;
  readonly #outputsDueMs: number[] = [];
  #last: Promise<void> = Promise.resolve();
  #held: Claim | null = null;
  #logSeq = 0;

  constructor(
    queue: Queue,
    { agentId, token }: LoadAgent,
    own: { connection: Connection; target: Target; heartbeat: string },
    note: NoteCall,
  ) {
    const { connection, target, heartbeat } = own;
    const { workspaceId, repoId } = queue;
    const { enqueue, claimNext, complete, heartbeat: renew } = endpoints.jobs;
    this.#connection = connection;
    this.#note = note;
    this.#heads = {
      output: formatHead(target, endpoints.jobEvents.append.path, token),
      renew: formatHead(target, renew.path, token),
      complete: formatHead(target, complete.path, token),
    };
    const post = (path: string, body: object) =>
      formatPost(target, path, token, JSON.stringify(body));
    this.#enqueue = post(enqueue.path, { workspaceId, repoId, kind: 'work', prompt });
    const claim = { workspaceId, agentId, leaseMs: LEASE_MS, waitMs: CLAIM_WAIT_MS };
    this.#claim = post(claimNext.path, claim);
    this.#heartbeat = heartbeat;
    this.#start = JSON.stringify({ workspaceId, agentId }).slice(0, -1);
  }

  /** The job that the agent holds. */
  get jobId(): string {
    if (this.#held === null) throw new Error('an agent of the fleet holds no job');
    return this.#held.jobId;
  }

  /** Enqueues a job and claims one. */
  async begin(): Promise<void> {
    const nowMs = performance.now();
    await this.#send('enqueue', nowMs, this.#enqueue);
    await this.#claimNext(nowMs);
  }

  output(dueMs: number): Promise<void> {
    this.#outputsDueMs.push(dueMs);
    // A call that waits for its turn takes this output along.
    if (this.#outputsDueMs.length > 1) return this.#last;
    return this.#queue(() => this.#sendOutput());
  }

  renew(dueMs: number): Promise<void> {
    const request = () => this.#format('renew', `,"leaseMs":${LEASE_MS}`);
    return this.#queue(() => this.#send('renew', dueMs, request()));
  }

  heartbeat(dueMs: number): Promise<void> {
    return this.#queue(() => this.#send('heartbeat', dueMs, this.#heartbeat));
  }

  /** Completes the job, and claims the next one, which somebody has enqueued. */
  finish(dueMs: number): Promise<void> {
    return this.#queue(async () => {
      const message = ',"outcome":"done","message":"Added the health check.","evidence":{}';
      await this.#send('complete', dueMs, this.#format('complete', message));
      const completedMs = performance.now();
      await this.#send('enqueue', completedMs, this.#enqueue);
      await this.#claimNext(performance.now());
    });
  }

  async #sendOutput(): Promise<void> {
    const dueMs = this.#outputsDueMs.splice(0);
    const at = new Date().toISOString();
    const entries = dueMs.map(
      () => `{"logSeq":${++this.#logSeq},"stream":"stdout","at":"${at}","message":${outputText}}`,
    );
    const request = this.#format('output', `,"entries":[${entries.join(',')}]`);
    await requireOk(this.#connection, request, 'output');
    for (const due of dueMs) this.#note('output', due);
  }

  async #claimNext(dueMs: number): Promise<void> {
    const claim = readClaim(await requireOk(this.#connection, this.#claim, 'claim'));
    if (claim === null) throw new Error('a claim found nothing although a job was pending');
    this.#note('claim', dueMs);
    this.#held = claim;
    this.#logSeq = 0;
  }

  async #send(call: FleetCall, dueMs: number, request: string): Promise<void> {
    await requireOk(this.#connection, request, call);
    this.#note(call, dueMs);
  }

  #format(call: 'output' | 'renew' | 'complete', rest: string): string {
    if (this.#held === null) throw new Error('an agent of the fleet holds no job');
    const { jobId, generation } = this.#held;
    const body = `${this.#start},"jobId":"${jobId}","claimGeneration":${generation}${rest}}`;
    return `${this.#heads[call]}${body.length}\r\n\r\n${body}`;
  }

  #queue(act: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(act);
    return this.#last;
  }
}
