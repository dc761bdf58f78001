import type { AgentCommand, endpoints, RequestInput } from '@signalbox/contract';
import { listCommands } from '../agents/heartbeat.ts';
import { isSilent } from '../agents/present.ts';
import { readAgent } from '../agents/store.ts';
import { HubError } from '../base/errors.ts';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { Entry } from '../queue/entry.ts';
import { extendLeaseForTool, type Lease } from '../queue/lease.ts';
import { type RenewSteps, renewLease, renewLeaseWithin } from '../queue/leased-work.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { requireEntryOfAgent } from './require-job.ts';
import { foldHeartbeat, recordJobEventForSeq } from './store-events.ts';

type HeartbeatInput = RequestInput<typeof endpoints.jobs.heartbeat.request>;

/**
 * Extends the lease of a running job and returns the hub's commands to the agent. The tool of a job
 * may keep it running, and no more: it gets no commands, since those are about other jobs too.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, or a refusal of `checkClaim`; NOT_ALLOWED for a
 *   job token that ends its attempt or speaks as the agent.
 */
export async function renewJobLease(
  deps: HubDeps,
  { principal }: RequestContext,
  input: HeartbeatInput,
): Promise<{ leaseExpiresAt: string; cancelRequested: boolean; commands: AgentCommand[] }> {
  const isTool = principal.job !== null;
  if (isTool) refuseAgentFields(input);
  const steps = stepsOf(principal, input, async (tx) => ({
    commands: isTool ? [] : await listCommands(tx, input.workspaceId, input.agentId),
  }));
  return renewLease(deps, input.jobId, input, steps);
}

function refuseAgentFields({ shorten, message }: HeartbeatInput): void {
  if (shorten) {
    throw new HubError('NOT_ALLOWED', 'Only the agent of a job may shorten its lease.');
  }
  if (message !== undefined) {
    throw new HubError('NOT_ALLOWED', 'With a job token, report progress by job-events/append.');
  }
}

/**
 * Extends the lease of a running job within a transaction. Refuses before it writes.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, or a refusal of `checkClaim`
 */
export function renewJobWithin(
  tx: Tx,
  principal: Principal,
  input: HeartbeatInput,
): Promise<{ leaseExpiresAt: string; cancelRequested: boolean }> {
  return renewLeaseWithin(
    tx,
    input,
    stepsOf(principal, input, async () => ({})),
  );
}

/** @param readMore reads further fields of the answer. */
function stepsOf<More extends object>(
  principal: Principal,
  input: HeartbeatInput,
  readMore: (tx: Tx) => Promise<More>,
): RenewSteps<More, More> {
  return {
    async read(tx) {
      // Sent together: one round trip on PostgreSQL.
      const [entry, more] = await Promise.all([
        requireEntryOfAgent(tx, principal, input),
        readMore(tx),
      ]);
      return { entry, row: more };
    },
    ...(principal.job !== null && {
      extend: (tx: Tx, entry: Entry) => extendByTool(tx, entry, input),
    }),
    record: async (tx, entry, more) => ({
      columns: await recordHeartbeat(tx, entry, input.message),
      more,
    }),
  };
}

/** The tool of a job keeps it running only as long as the agent that started it does. */
async function extendByTool(
  tx: Tx,
  entry: Entry,
  { workspaceId, agentId, leaseMs }: HeartbeatInput,
): Promise<Lease> {
  const agent = await readAgent(tx, workspaceId, agentId);
  const agentIsSilent = agent === undefined || isSilent(agent, tx.nowMs);
  return extendLeaseForTool(entry, tx.nowMs, { leaseMs, agentIsSilent });
}

/**
 * Heartbeats without a message share one event an attempt; each message has its own event.
 *
 * @returns what the entry notes of the shared event.
 */
async function recordHeartbeat(
  tx: Tx,
  entry: Entry,
  message: string | undefined,
): Promise<Partial<Pick<Entry, 'heartbeat_seq' | 'heartbeat_count'>>> {
  const hasNoMessage = message === undefined || message === '';
  if (hasNoMessage && entry.heartbeat_seq !== null) {
    const count = entry.heartbeat_count + 1;
    foldHeartbeat(tx, entry, entry.heartbeat_seq, count);
    return { heartbeat_count: count };
  }
  const seq = await recordJobEventForSeq(tx, entry, {
    kind: 'heartbeat',
    message: hasNoMessage ? null : message,
    data: hasNoMessage ? { count: 1 } : null,
  });
  return hasNoMessage ? { heartbeat_seq: seq, heartbeat_count: 1 } : {};
}
