import {
  Activity,
  type AnswerOf,
  type endpoints,
  type JobLogEntry,
  type RequestInput,
} from '@signalbox/contract';
import { compileLater } from '../base/compile-later.ts';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { requireClaim } from '../queue/leased-work.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { appendOutput, type OutputPiece } from './log-writer.ts';
import { requireEntryOfAgent } from './require-job.ts';

const activitySchema = compileLater(Activity);

type AppendInput = RequestInput<typeof endpoints.jobEvents.append.request>;
type AppendAnswer = AnswerOf<typeof endpoints.jobEvents.append>;

/** The stream of entries that a job token appends, so that they do not pass as the agent's. */
const TOOL_STREAM = 'tool';

/**
 * Appends output to the timeline. Skips entries that are already there, so a repeated call is
 * harmless. The tool's entries have numbers of their own: otherwise one of a high number would make
 * the hub skip everything that the agent appends later.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, or a refusal of `checkClaim`
 */
export function appendJobLog(
  deps: HubDeps,
  { principal }: RequestContext,
  input: AppendInput,
): Promise<AppendAnswer> {
  const { workspaceId, jobId } = input;
  return deps.database.writeConcurrent({ workspaceId, keys: [jobId] }, (tx) =>
    appendWithin(tx, principal, input),
  );
}

/** Appends output as `appendJobLog` does, within a transaction. Refuses before it writes. */
export async function appendWithin(
  tx: Tx,
  principal: Principal,
  input: AppendInput,
): Promise<AppendAnswer> {
  const isTool = principal.job !== null;
  const entry = await requireEntryOfAgent(tx, principal, input);
  requireClaim(entry, input);
  const { appended, lastLogSeq } = await appendOutput(
    tx,
    entry,
    input.entries.toSorted((a, b) => a.logSeq - b.logSeq).map((log) => pieceOf(log, isTool)),
    isTool ? 'tool_log_seq' : 'log_seq',
  );
  // An agent whose tool writes learns it here, earlier than by its next renewal.
  const isCanceled = entry.cancel_requested_at !== null;
  return { appended, lastLogSeq, ...(isCanceled && { cancelRequested: true }) };
}

function pieceOf(log: JobLogEntry, isTool: boolean): OutputPiece {
  const { logSeq, message, stream, at, activity } = log;
  const shown = isTool ? TOOL_STREAM : stream;
  const data = { ...(shown && { stream: shown }), ...(at !== undefined && { at }) };
  if (activity === undefined || isTool) return { logSeq, message, data };
  // Fields that the contract does not know are of any size.
  return { logSeq, message, data, activity: activitySchema().Clean(activity) as Activity };
}
