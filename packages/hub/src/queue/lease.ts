import type { Entry } from './entry.ts';

/** The columns of an entry that a renewal changes; empty when the lease stays as it is. */
export type Lease = Partial<Pick<Entry, 'lease_ms' | 'lease_expires_at'>>;

export interface LeaseRequest {
  leaseMs: number;
  /** Whether the lease may end before it would have. */
  shorten: boolean;
}

/**
 * The lease from now on for leaseMs; never below what remains, unless `shorten`. After a cancel
 * request the lease is never extended, so that an unresponsive agent loses the job.
 */
export function extendLease(
  entry: Entry,
  nowMs: number,
  { leaseMs, shorten }: LeaseRequest,
): Lease {
  const current = entry.lease_expires_at ?? 0;
  const wanted = shorten ? nowMs + leaseMs : Math.max(nowMs + leaseMs, current);
  if (entry.cancel_requested_at !== null && wanted >= current) return {};
  return { lease_ms: leaseMs, lease_expires_at: wanted };
}

/**
 * The lease on behalf of the job's tool: no more than the agent's own lease, which it does not
 * replace. If the agent is silent, the lease is not extended, so that a tool that outlives its
 * agent loses the job.
 */
export function extendLeaseForTool(
  entry: Entry,
  nowMs: number,
  { leaseMs, agentIsSilent }: { leaseMs: number; agentIsSilent: boolean },
): Lease {
  const current = entry.lease_expires_at ?? 0;
  const wanted = nowMs + Math.min(leaseMs, entry.lease_ms ?? leaseMs);
  if (wanted <= current || agentIsSilent || entry.cancel_requested_at !== null) return {};
  return { lease_expires_at: wanted };
}
