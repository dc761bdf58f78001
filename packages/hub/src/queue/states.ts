import { HubError } from '../base/errors.ts';
import type { Entry, EntryStatus } from './entry.ts';

/** The causes that move an entry from one status to another; drawn in docs/JOB_STATES.md. */
export type Cause =
  | 'claim'
  | 'complete'
  | 'retryable-outcome'
  | 'lease-lost'
  | 'attempts-exhausted'
  | 'cancel'
  | 'retry'
  | 'decision';

/** Every allowed move. All others are refused. */
const moves: Record<EntryStatus, Partial<Record<EntryStatus, readonly Cause[]>>> = {
  pending: {
    running: ['claim'],
    canceled: ['cancel'],
  },
  running: {
    done: ['complete'],
    failed: ['complete', 'attempts-exhausted'],
    blocked: ['complete'],
    pending: ['retryable-outcome', 'lease-lost'],
    canceled: ['cancel'],
  },
  blocked: {
    pending: ['retry', 'decision'],
    canceled: ['cancel'],
  },
  failed: {
    pending: ['retry'],
  },
  done: {},
  canceled: {},
};

export function mayMove(from: EntryStatus, to: EntryStatus, cause: Cause): boolean {
  return moves[from][to]?.includes(cause) ?? false;
}

/**
 * The claim generation of an entry's latest attempt: the number of the attempt, counted on from the
 * epoch of the last restore that the entry went through.
 */
export function generationOf({ epoch, attempt }: Pick<Entry, 'epoch' | 'attempt'>): number {
  return epoch + attempt;
}

/**
 * The number of the attempt that a claim generation of any epoch of an entry belongs to; the latest
 * one for a generation that no attempt has had, which a caller may have made up.
 */
export function attemptOf(
  { epoch, attempt }: Pick<Entry, 'epoch' | 'attempt'>,
  generation: number,
): number {
  return Math.min(generation > epoch ? generation - epoch : generation, attempt);
}

/** The claim that a write belongs to: identified by its generation, or by the agent alone. */
export interface ClaimRef {
  agentId: string;
  claimGeneration?: number | undefined;
}

/**
 * The fence of every write by an agent: only the claim that holds the entry now passes. An expired
 * lease that was not reclaimed yet still passes, so that a late agent loses no work.
 *
 * @returns the refusal, or null when the claim holds the entry.
 */
export function checkClaim(entry: Entry, claim: ClaimRef): HubError | null {
  const { claimGeneration: generation } = claim;
  const current = generationOf(entry);
  if (generation !== undefined && generation !== current) {
    return new HubError(
      'CLAIM_GENERATION_MISMATCH',
      `The current claim generation is ${current}, not ${generation}: stop this attempt.`,
    );
  }
  switch (entry.status) {
    case 'running':
      return entry.agent_id === claim.agentId
        ? null
        : new HubError('LEASE_LOST', 'Another agent holds the lease now: stop this attempt.');
    case 'pending':
      return entry.agent_id === claim.agentId
        ? new HubError('LEASE_LOST', 'The lease expired and was reclaimed: stop this attempt.')
        : new HubError('JOB_NOT_RUNNING', 'The job is not running: claim it first.');
    case 'canceled':
      return new HubError('JOB_CANCELED');
    case 'blocked':
      return new HubError('JOB_NOT_RUNNING', 'The job is blocked and waits for a person.');
    case 'done':
    case 'failed':
      return new HubError('JOB_ALREADY_FINISHED');
  }
}
