import assert from 'node:assert/strict';
import type { HubWorkspace } from './hub.ts';
import type { Act, ActOf, Answer } from './records.ts';

/**
 * The invariants of a leased queue, checked independently of the model in the answers to clients
 * and in the database. They find bugs that the hub and the model share.
 */
export class QueueInvariants {
  readonly #generations = new Map<number, number>();
  readonly #cancelAcknowledged = new Map<number, number>();
  readonly #accepted = new Set<string>();
  readonly #jobOfKey = new Map<string, unknown>();

  observe(act: Act, answer: Answer): void {
    if ('code' in answer || 'reason' in answer) return;
    if (act.type === 'claim') this.#observeClaim(answer);
    if (act.type === 'heartbeat' || act.type === 'complete') this.#observeWrite(act, answer);
    if (act.type === 'report') this.#observeReport(act, answer);
    if (act.type === 'cancel' && answer.status === 'running') {
      this.#cancelAcknowledged.set(act.job, Number(answer.attempt));
    }
    if (act.type === 'enqueue' && act.idempotencyKey !== null) {
      const known = this.#jobOfKey.get(act.idempotencyKey) ?? answer.job;
      assert.equal(answer.job, known, 'one idempotency key creates one job');
      this.#jobOfKey.set(act.idempotencyKey, known);
    }
  }

  #observeClaim(answer: Answer): void {
    const job = Number(answer.job);
    const generation = Number(answer.generation);
    const before = this.#generations.get(job) ?? 0;
    // A claim repeated with its key returns the same generation.
    if (generation !== before) assert.equal(generation, before + 1, 'generations rise by one');
    assert.ok(generation <= Number(answer.maxAttempts), 'attempts stay within their limit');
    this.#generations.set(job, generation);
  }

  #observeWrite(act: Extract<Act, { type: 'heartbeat' | 'complete' }>, answer: Answer): void {
    const current = this.#generations.get(act.job);
    const isReplay = answer.idempotent === true;
    if (act.generation !== null && !isReplay) {
      assert.equal(act.generation, current, 'only the latest generation writes');
    }
    const isCanceled = this.#cancelAcknowledged.get(act.job) === current;
    if (act.type === 'heartbeat') {
      if (isCanceled) assert.equal(answer.cancelAsked, true, 'a heartbeat reports the cancel');
      return;
    }
    if (isReplay) return;
    assert.ok(!isCanceled, 'no completion is accepted after a cancel');
    const attempt = `${act.job} ${current}`;
    assert.ok(!this.#accepted.has(attempt), 'an attempt has one accepted completion');
    this.#accepted.add(attempt);
  }

  #observeReport(act: ActOf<'report'>, answer: Answer): void {
    const results = [answer.renewals, answer.outputs].flat() as Answer[];
    for (const [at, { job, generation }] of [...act.renewals, ...act.outputs].entries()) {
      const { code, cancelAsked } = results[at] ?? {};
      if (code !== undefined) continue;
      const current = this.#generations.get(job);
      if (generation !== null)
        assert.equal(generation, current, 'only the latest generation writes');
      const isCanceled = this.#cancelAcknowledged.get(job) === current;
      if (isCanceled) assert.equal(cancelAsked, true, 'a report tells of the cancel');
    }
  }

  async checkDatabase(workspace: HubWorkspace): Promise<void> {
    for (const [sql, what] of invariants) assert.deepEqual(await workspace.find(sql), [], what);
  }

  async checkSwept(workspace: HubWorkspace, nowMs: number): Promise<void> {
    const expired = `SELECT entry_id FROM queue_entries
      WHERE workspace_id = ? AND status = 'running' AND lease_expires_at <= ${nowMs}`;
    assert.deepEqual(await workspace.find(expired), [], 'a sweep leaves no expired lease');
  }
}

/** Statements that find violations. */
const invariants: readonly [string, string][] = [
  [
    `SELECT concurrency_key FROM queue_entries WHERE workspace_id = ? AND status = 'running'
       AND concurrency_key IS NOT NULL GROUP BY queue, concurrency_key HAVING COUNT(*) > 1`,
    'a concurrency key runs once',
  ],
  [
    `SELECT entry_id FROM queue_entries WHERE workspace_id = ?
       AND ((status = 'pending') <> (hold IS NOT NULL)
         OR (status = 'running') <> (lease_expires_at IS NOT NULL))`,
    'a pending entry has a hold, and a running one has a lease',
  ],
  [
    'SELECT entry_id FROM queue_entries WHERE workspace_id = ? AND attempt > attempts_max',
    'attempts stay within their limit',
  ],
  [
    `SELECT e.entry_id FROM queue_entries e WHERE e.workspace_id = ? AND e.hold = 'key'
       AND NOT EXISTS (SELECT 1 FROM queue_entries r WHERE r.workspace_id = e.workspace_id
         AND r.queue = e.queue AND r.concurrency_key = e.concurrency_key
         AND (r.status = 'running' OR r.hold = 'ready'))`,
    'an entry waits for a key only while another one holds it',
  ],
];
