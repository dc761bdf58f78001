import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AgentCommand,
  type ErrorCode,
  formatToken,
  type Job,
  type JobLogEntry,
  statusOf,
} from '@signalbox/contract';
import { findFreePort } from '@signalbox/local-postgres';

/** A job in the fake hub. */
export interface FakeJob {
  job: Job;
  generation: number;
  leaseEndsAtMs: number;
  jobToken: string;
  log: Map<number, JobLogEntry>;
  /** Every completion received, accepted or not. */
  completions: Record<string, unknown>[];
  accepted: Record<string, unknown> | null;
  heartbeats: Record<string, unknown>[];
  isCanceled: boolean;
}

interface Trouble {
  path: string;
  left: number;
  /** `lose`: the call takes effect but its answer is lost. A number: answer with that status. */
  kind: 'lose' | number;
  retryAfterSeconds: number;
}

type Body = Record<string, unknown>;

class Refusal extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

/**
 * An in-memory hub over real HTTP, for one workspace and agent. It implements the contract for the
 * calls of an agent, and misbehaves on request. Tests wait with `until`, which checks its condition
 * after every change.
 */
export class FakeHub {
  readonly workspaceId = `ws_${randomBytes(8).toString('hex')}`;
  readonly agentId = `agt_${randomBytes(8).toString('hex')}`;
  readonly token = formatToken('device', randomBytes(32));
  readonly jobs = new Map<string, FakeJob>();
  readonly agentHeartbeats: Body[] = [];
  /** Texts by upload. */
  readonly uploads = new Map<string, string>();
  readonly calls: { path: string; body: Body }[] = [];
  /** Sent with the next agent heartbeat. */
  commands: AgentCommand[] = [];
  /** Ends the wait of a claim, which is answered with it. */
  claimCommands: AgentCommand[] = [];
  intervalMs = 1_000;
  /** Whether it has the extension `agents/report`. */
  takesReports = false;
  isTokenDead = false;
  private readonly claims = new Map<string, { jobId: string; generation: number }>();
  private readonly troubles: Trouble[] = [];
  private readonly watchers = new Set<() => void>();
  private readonly refusals = new Map<string, ErrorCode>();
  /** Connections that this hub has closed. */
  private readonly cut = new WeakSet<object>();
  private readonly waitingClaims = new Set<IncomingMessage>();
  private server: Server | null = null;
  private port = 0;

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
    this.server = server;
    // Reuse the port after a stop, because the agent knows only this address.
    this.port ||= await findFreePort();
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    this.changed();
    if (server === null) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  /** The next `times` calls whose path ends with `path` fail. */
  trouble(path: string, kind: 'lose' | number, times = 1, retryAfterSeconds = 0): void {
    this.troubles.push({ path, kind, left: times, retryAfterSeconds });
  }

  /** The next call whose path ends with `path` is rejected with this code. */
  refuseOnce(path: string, code: ErrorCode): void {
    this.refusals.set(path, code);
  }

  /**
   * Closes the connections of waiting polls. They may still be granted a job, without an answer.
   */
  cutClaims(): void {
    for (const { socket } of this.waitingClaims) {
      this.cut.add(socket);
      socket.destroy();
    }
  }

  endTrouble(): void {
    this.troubles.length = 0;
  }

  enqueue(fields: Partial<Job> & { repoId: string }): FakeJob {
    const jobId = fields.jobId ?? `job_${randomBytes(8).toString('hex')}`;
    const now = new Date().toISOString();
    const job: Job = {
      jobId,
      workspaceId: this.workspaceId,
      runId: null,
      kind: 'work',
      role: 'implementer',
      title: 'Do it.',
      prompt: 'Do it.',
      requirements: null,
      priority: 0,
      changed: null,
      verdict: null,
      tool: null,
      model: null,
      createdBy: { id: 'service:test', name: 'test' },
      maxAttempts: 5,
      agentId: null,
      leaseMs: null,
      leaseExpiresAt: null,
      usage: null,
      availableAt: now,
      createdAt: now,
      startedAt: null,
      finishedAt: null,
      outcome: null,
      outcomeReason: null,
      message: null,
      evidence: null,
      budget: null,
      parentJobId: null,
      continuesJobId: null,
      workJobId: null,
      round: 1,
      landsJobId: null,
      workEnded: null,
      dependsOn: [],
      concurrencyKey: null,
      cancelRequestedAt: null,
      decisions: [],
      waitingOnUncertaintyId: null,
      status: 'pending',
      attempt: 0,
      ...fields,
    };
    const held: FakeJob = {
      job,
      generation: 0,
      leaseEndsAtMs: 0,
      accepted: null,
      isCanceled: false,
      jobToken: formatToken('job', randomBytes(32)),
      log: new Map(),
      completions: [],
      heartbeats: [],
    };
    this.jobs.set(jobId, held);
    this.changed();
    return held;
  }

  /** Simulates that the lease expired and another agent claimed the job. */
  loseLease(held: FakeJob): void {
    held.generation += 1;
    held.job.agentId = 'agt_another';
    this.changed();
  }

  /** All output of a job in the agent's order. */
  output(held: FakeJob, stream?: string): string {
    return [...held.log.values()]
      .sort((a, b) => a.logSeq - b.logSeq)
      .filter((entry) => stream === undefined || entry.stream === stream)
      .map((entry) => entry.message)
      .join('');
  }

  async until(what: string, condition: () => boolean, limitMs = 60_000): Promise<void> {
    if (condition()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const watcher = () => {
      if (condition()) resolve();
    };
    this.watchers.add(watcher);
    const limit = setTimeout(() => reject(new Error(`Never happened: ${what}`)), limitMs);
    await promise.finally(() => {
      clearTimeout(limit);
      this.watchers.delete(watcher);
    });
  }

  /** Makes `until` check its condition. Call it for changes outside the hub, too. */
  changed(): void {
    for (const watcher of [...this.watchers]) watcher();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = request.url ?? '';
    if (request.method === 'PUT') return this.takeBytes(path, text, response);
    if (path.startsWith('/bytes/')) {
      response.end(this.uploads.get(path.slice('/bytes/'.length)));
      return;
    }
    const body = JSON.parse(text) as Body;
    this.calls.push({ path, body });
    const trouble = this.troubles.find((one) => one.left > 0 && path.endsWith(one.path));
    if (trouble !== undefined) trouble.left -= 1;
    if (typeof trouble?.kind === 'number') {
      response.setHeader('retry-after', String(trouble.retryAfterSeconds));
      return this.send(response, trouble.kind, {
        ok: false,
        error: 'UNAVAILABLE',
        message: 'Unavailable.',
      });
    }
    const authorized =
      request.headers.authorization === `Bearer ${this.token}` && !this.isTokenDead;
    try {
      if (!authorized) throw new Refusal('TOKEN_REVOKED');
      this.refuseIfRequested(path);
      if (Buffer.byteLength(text) > 262_144) throw new Refusal('BODY_TOO_LARGE');
      const answer = await this.act(path, body, request);
      if (trouble?.kind === 'lose') response.destroy();
      else this.send(response, 200, { ok: true, ...answer });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code } = error;
      this.send(response, statusOf(code), { ok: false, error: code, message: `${code}.` });
    }
    this.changed();
  }

  private refuseIfRequested(path: string): void {
    for (const [end, code] of this.refusals) {
      if (!path.endsWith(end)) continue;
      this.refusals.delete(end);
      throw new Refusal(code);
    }
  }

  private send(response: ServerResponse, status: number, body: Body): void {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ requestId: 'req_1', ...body }));
    this.changed();
  }

  private async act(path: string, body: Body, request: IncomingMessage): Promise<Body> {
    if (path.endsWith('/v2/agents/heartbeat')) return this.beat(body);
    if (path.endsWith('/jobs/claim-next')) {
      const { socket } = request;
      const changed = () => this.changed();
      this.waitingClaims.add(request);
      // The claim of an agent that has left takes no job.
      socket.once('close', changed);
      const hasLeft = () => socket.destroyed && !this.cut.has(socket);
      return await this.claim(body, hasLeft).finally(() => {
        socket.removeListener('close', changed);
        this.waitingClaims.delete(request);
      });
    }
    if (path.endsWith('/jobs/heartbeat')) return this.renew(body);
    if (path.endsWith('/job-events/append')) return this.append(body);
    if (path.endsWith('/agents/report') && this.takesReports) return this.report(body);
    if (path.endsWith('/jobs/complete')) return this.complete(body);
    if (path.endsWith('/jobs/share-patch')) return {};
    if (path.endsWith('/uploads/create')) {
      const uploadId = `upl_${this.calls.length}`;
      const uploadUrl = `${this.baseUrl}/bytes/${uploadId}`;
      return { uploadId, uploadUrl, expiresAt: new Date().toISOString() };
    }
    if (path.endsWith('/uploads/get-download-url')) {
      const text = this.uploads.get(String(body.uploadId));
      if (text === undefined) throw new Refusal('UPLOAD_NOT_FOUND');
      return {
        downloadUrl: `${this.baseUrl}/bytes/${body.uploadId}`,
        sha256: createHash('sha256').update(text).digest('hex'),
      };
    }
    throw new Refusal('NOT_FOUND');
  }

  /** Takes the bytes of an upload, unless a trouble refuses them. */
  private takeBytes(path: string, text: string, response: ServerResponse): void {
    const trouble = this.troubles.find((one) => one.left > 0 && one.path === 'bytes');
    if (trouble !== undefined) trouble.left -= 1;
    else this.uploads.set(path.slice('/bytes/'.length), text);
    this.send(response, trouble === undefined ? 200 : Number(trouble.kind), {});
  }

  private beat(body: Body): Body {
    this.agentHeartbeats.push(body);
    const { commands } = this;
    this.commands = [];
    return { agentId: this.agentId, intervalMs: this.intervalMs, commands };
  }

  private async claim(body: Body, hasLeft: () => boolean): Promise<Body> {
    const claimKey = String(body.claimKey);
    const known = this.claims.get(claimKey);
    if (known !== undefined) return this.claimed(this.job(known.jobId));
    const isDraining = this.agentHeartbeats.at(-1)?.status === 'draining';
    if (isDraining) return { jobId: null, job: null, reason: 'agent_draining' };
    const find = () => [...this.jobs.values()].find((held) => this.isClaimable(held, body));
    const isStopped = () => this.server === null || hasLeft();
    const isCommanded = () => this.claimCommands.length > 0;
    const isOver = () => find() !== undefined || isStopped() || isCommanded();
    const limitMs = Number(body.waitMs ?? 0);
    await this.until('a job', isOver, limitMs).catch(() => {});
    if (isCommanded()) {
      const commands = this.claimCommands;
      this.claimCommands = [];
      return { jobId: null, job: null, reason: 'agent_draining', commands };
    }
    const held = find();
    if (held === undefined || isStopped())
      return { jobId: null, job: null, reason: 'no_pending_jobs' };
    held.generation += 1;
    held.leaseEndsAtMs = Date.now() + Number(body.leaseMs);
    Object.assign(held.job, { status: 'running', agentId: this.agentId, attempt: held.generation });
    this.claims.set(claimKey, { jobId: held.job.jobId, generation: held.generation });
    return this.claimed(held);
  }

  private isClaimable(held: FakeJob, body: Body): boolean {
    const repoIds = body.repoIds as string[];
    if (!repoIds.includes(held.job.repoId)) return false;
    return held.job.status === 'pending';
  }

  private claimed(held: FakeJob): Body {
    const { job, generation, jobToken } = held;
    const leaseExpiresAt = new Date(held.leaseEndsAtMs).toISOString();
    return { jobId: job.jobId, job, claimGeneration: generation, jobToken, leaseExpiresAt };
  }

  private renew(body: Body): Body {
    const held = this.fence(body);
    held.heartbeats.push(body);
    held.leaseEndsAtMs = Date.now() + Number(body.leaseMs);
    const leaseExpiresAt = new Date(held.leaseEndsAtMs).toISOString();
    return { leaseExpiresAt, cancelRequested: held.isCanceled, commands: [] };
  }

  private append(body: Body): Body {
    const held = this.fence(body);
    const entries = body.entries as JobLogEntry[];
    for (const entry of entries) held.log.set(entry.logSeq, entry);
    const lastLogSeq = Math.max(...held.log.keys());
    return { appended: entries.length, lastLogSeq, cancelRequested: held.isCanceled };
  }

  private report(body: Body): Body {
    const { agentId, heartbeat } = body;
    const each = (items: unknown, act: (item: Body) => Body) =>
      (items as Body[]).map((item) => {
        const { jobId } = item;
        try {
          return { jobId, ...act({ ...item, agentId }) };
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return { jobId, error: error.code, message: `${error.code}.` };
        }
      });
    const { commands = [], ...beat } = heartbeat === undefined ? {} : this.beat(heartbeat as Body);
    return {
      ...(heartbeat === undefined ? {} : { heartbeat: beat }),
      commands,
      renewals: each(body.renewals, (item) => this.renew(item)),
      outputs: each(body.outputs, (item) => this.append(item)),
    };
  }

  private complete(body: Body): Body {
    const held = this.job(String(body.jobId));
    held.completions.push(body);
    if (held.accepted === null) {
      this.fence(body);
      if (held.isCanceled) throw new Refusal('JOB_CANCELED');
      held.accepted = body;
      const { outcome } = body;
      const retryable = (body.outcomeReason as Body | undefined)?.retryable === true;
      Object.assign(held.job, { status: retryable ? 'pending' : outcome, outcome });
    } else if (held.accepted.claimGeneration !== body.claimGeneration) {
      throw new Refusal('JOB_ALREADY_FINISHED');
    }
    const { jobId, status } = held.job;
    const idempotent = held.completions.length > 1;
    const result = { jobId, status, outcome: body.outcome, idempotent, spawnedJobIds: [] };
    return { result, job: held.job };
  }

  private fence(body: Body): FakeJob {
    const held = this.job(String(body.jobId));
    if (held.job.agentId !== body.agentId) throw new Refusal('LEASE_LOST');
    if (held.generation !== body.claimGeneration) throw new Refusal('CLAIM_GENERATION_MISMATCH');
    if (held.job.status !== 'running') throw new Refusal('JOB_ALREADY_FINISHED');
    return held;
  }

  private job(jobId: string): FakeJob {
    const held = this.jobs.get(jobId);
    if (held === undefined) throw new Refusal('JOB_NOT_FOUND');
    return held;
  }
}
