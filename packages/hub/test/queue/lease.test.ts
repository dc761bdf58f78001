import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../../src/queue/entry.ts';
import { extendLease, extendLeaseForTool } from '../../src/queue/lease.ts';

const nowMs = 1_000_000;

/** A running entry whose lease of a minute ends in half a minute. */
const entry = {
  lease_ms: 60_000,
  lease_expires_at: nowMs + 30_000,
  cancel_requested_at: null,
} as Entry;
const canceled = { ...entry, cancel_requested_at: nowMs };

const endsIn = (leaseMs: number, ms = leaseMs) => ({
  lease_ms: leaseMs,
  lease_expires_at: nowMs + ms,
});

test('an agent extends its lease, shortens it only when it says so, and not at all after a cancel', () => {
  const extend = (leaseMs: number, shorten: boolean, of: Entry = entry) =>
    extendLease(of, nowMs, { leaseMs, shorten });
  assert.deepEqual(extend(90_000, false), endsIn(90_000));
  assert.deepEqual(extend(10_000, false), endsIn(10_000, 30_000));
  assert.deepEqual(extend(10_000, true), endsIn(10_000));
  assert.deepEqual(extend(90_000, false, canceled), {});
  assert.deepEqual(extend(30_000, true, canceled), {}, 'not even by nothing');
  assert.deepEqual(extend(10_000, true, canceled), endsIn(10_000));
});

test('a tool extends by no more than the lease of its agent, which stays, while the agent is heard of', () => {
  const extend = (leaseMs: number, more: object = {}, of: Entry = entry) =>
    extendLeaseForTool(of, nowMs, { leaseMs, agentIsSilent: false, ...more });
  assert.deepEqual(extend(45_000), { lease_expires_at: nowMs + 45_000 });
  assert.deepEqual(extend(86_400_000), { lease_expires_at: nowMs + 60_000 });
  assert.deepEqual(extend(45_000, { agentIsSilent: true }), {});
  assert.deepEqual(extend(45_000, {}, canceled), {});
  assert.deepEqual(extend(10_000), {});
});
