import { hash } from 'node:crypto';
import type { Reader, Tx } from '../db/engine.ts';
import { HubError } from '../errors.ts';

/** How long a key is kept (contract, section 1). */
export const IDEMPOTENCY_KEPT_MS = 7 * 24 * 60 * 60 * 1_000;

interface KeyRow {
  body_hash: string;
  answer: string;
}

export interface IdempotentCall {
  workspaceId: string;
  /** The endpoint's name: one key may serve different endpoints. */
  operation: string;
  /** Absent: the call is made each time. */
  key: string | undefined;
  /** The request without the key; equal requests have equal JSON whatever the order of keys. */
  body: unknown;
}

/**
 * Makes a call once per key, in the call's own action: the first answer is kept with what the call
 * wrote, and given again with `idempotent: true`.
 *
 * @throws HubError IDEMPOTENCY_CONFLICT for the same key with another body.
 */
export async function answerOnce<Answer extends object>(
  tx: Tx,
  call: IdempotentCall,
  make: () => Promise<Answer>,
): Promise<Answer & { idempotent?: boolean }> {
  if (call.key === undefined) return make();
  const bodyHash = hashJson(call.body);
  const known = await tx.firstSql<KeyRow>(
    `SELECT body_hash, answer FROM idempotency_keys
     WHERE workspace_id = ? AND operation = ? AND idempotency_key = ?`,
    [call.workspaceId, call.operation, call.key],
  );
  if (known !== undefined) {
    if (known.body_hash !== bodyHash) {
      throw new HubError(
        'IDEMPOTENCY_CONFLICT',
        'The idempotency key was used with a different body: send a new key.',
      );
    }
    // What was stored is an answer of this very operation.
    return { ...(JSON.parse(known.answer) as Answer), idempotent: true };
  }
  const answer = await make();
  await tx.runSql(
    `INSERT INTO idempotency_keys
       (workspace_id, operation, idempotency_key, body_hash, answer, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [call.workspaceId, call.operation, call.key, bodyHash, JSON.stringify(answer), tx.nowMs],
  );
  return answer;
}

export async function hasOldKeys(reader: Reader, nowMs: number): Promise<boolean> {
  const row = await reader.firstSql('SELECT 1 FROM idempotency_keys WHERE created_at < ? LIMIT 1', [
    nowMs - IDEMPOTENCY_KEPT_MS,
  ]);
  return row !== undefined;
}

/** Forgets keys past their time. Returns how many. */
export async function deleteOldKeys(tx: Tx, limit: number): Promise<number> {
  const { changes } = await tx.runSql(
    `DELETE FROM idempotency_keys WHERE (workspace_id, operation, idempotency_key) IN (
       SELECT workspace_id, operation, idempotency_key FROM idempotency_keys
       WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
    [tx.nowMs - IDEMPOTENCY_KEPT_MS, limit],
  );
  return changes;
}

/** SHA-256 of a JSON value, the same whatever the order of keys. */
export function hashJson(value: unknown): string {
  return hash('sha256', JSON.stringify(sortKeys(value)));
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const members = value as Record<string, unknown>;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(members).sort()) sorted[key] = sortKeys(members[key]);
  return sorted;
}
