import type { ChangesPlace, PatchRequest } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import type { Reader } from '../db/engine.ts';
import { agentStatusAt, capabilitiesOf } from './present.ts';
import { type AgentRow, readAgent } from './store.ts';
import { type PatchRequestRow, readPatchRequest } from './store-patch-requests.ts';

/** The agent of an ended job, and what it was asked for. */
export interface FoundPlace {
  agent: AgentRow;
  request: PatchRequestRow | undefined;
  onRequest: boolean;
}

/** The job as its agent has ended it. */
export interface EndedJob {
  workspaceId: string;
  jobId: string;
  repoId: string;
  agentId: string | null;
}

/** Finds where the changes of an ended job are; null if its agent is not known. */
export async function findChangesPlace(
  reader: Reader,
  { workspaceId, jobId, repoId, agentId }: EndedJob,
): Promise<FoundPlace | null> {
  if (agentId === null) return null;
  const [agent, request] = await Promise.all([
    readAgent(reader, workspaceId, agentId),
    readPatchRequest(reader, workspaceId, jobId),
  ]);
  if (agent === undefined) return null;
  const onRequest = capabilitiesOf(agent).changesOnRequest?.includes(repoId) ?? false;
  return { agent, request, onRequest };
}

/** The request for the patch of a job that waits for this agent, if there is one. */
export async function findWaitingRequest(
  reader: Reader,
  { workspaceId, jobId, agentId }: { workspaceId: string; jobId: string; agentId: string },
): Promise<PatchRequestRow | null> {
  const request = await readPatchRequest(reader, workspaceId, jobId);
  const isWaiting = request?.agent_id === agentId && request.answered_at === null;
  return isWaiting ? request : null;
}

export function presentPlace(
  { agent, request, onRequest }: FoundPlace,
  nowMs: number,
): ChangesPlace {
  return {
    agent: {
      agentId: agent.agent_id,
      displayName: agent.display_name,
      status: agentStatusAt(agent, nowMs),
      lastSeenAt: timestampOf(agent.last_seen_at),
    },
    onRequest,
    request: request === undefined ? null : presentPatchRequest(request),
  };
}

export function presentPatchRequest(row: PatchRequestRow): PatchRequest {
  return {
    askedBy: { id: row.asked_by_id, name: row.asked_by_name },
    askedAt: timestampOf(row.asked_at),
    answeredAt: nullableTimestampOf(row.answered_at),
    refusal: row.refusal,
  };
}
