import { DECISION_AGENT_PREFERENCE_MS } from '@signalbox/contract';
import { agentStatusAt } from '../agents/present.ts';
import { readAgent } from '../agents/store.ts';
import type { Tx } from '../db/engine.ts';
import { asObject } from '../queue/matching.ts';
import { PINNED_UNTIL_MS, type Preference } from '../queue/store.ts';
import type { JobRecord } from './require-job.ts';

/**
 * Reserves a round, a landing or a review for the agent that ran the round before. For a while, if
 * that agent is online; for good, if no other machine has the branch.
 */
export async function findPreference(
  tx: Tx,
  { entry, row }: JobRecord,
): Promise<Preference | null> {
  const { workspace_id: workspaceId, agent_id: agentId } = entry;
  const agent = agentId === null ? undefined : await readAgent(tx, workspaceId, agentId);
  if (agent === undefined) return null;
  if (isBranchUnpushed(row.evidence)) return { agentId: agent.agent_id, untilMs: PINNED_UNTIL_MS };
  if (agentStatusAt(agent, tx.nowMs) !== 'online') return null;
  return { agentId: agent.agent_id, untilMs: tx.nowMs + DECISION_AGENT_PREFERENCE_MS };
}

function isBranchUnpushed(evidence: string | null): boolean {
  const { branch, pushedTo } = asObject(evidence === null ? null : JSON.parse(evidence)) ?? {};
  return typeof branch === 'string' && typeof pushedTo !== 'string';
}
