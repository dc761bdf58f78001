import type { endpoints, RequestInput, Uncertainty } from '@signalbox/contract';
import { readAgent } from '../agents/store.ts';
import type { Reader } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { Principal, RequestContext } from '../principal.ts';
import { readEntry } from '../queue/queue-store.ts';
import type { UncertaintyDeps } from './actions.ts';
import { mayRead } from './policy.ts';
import { presentUncertainty } from './present.ts';
import {
  listUncertainties,
  noteAnswersSeen,
  readUncertainty,
  type UncertaintyRow,
} from './store.ts';
import { listResolutions } from './store-resolutions.ts';

type ListInput = RequestInput<typeof endpoints.uncertainties.list.request>;

interface UncertaintyRef {
  workspaceId: string;
  uncertaintyId: string;
}

/** An uncertainty with its resolutions. To the tool of the job that asked, the answer is told. */
export async function getUncertainty(
  deps: UncertaintyDeps,
  { principal }: RequestContext,
  ref: UncertaintyRef,
): Promise<Uncertainty> {
  const row = await requireReadable(deps.database.reader, principal, ref);
  return principal.job !== null && principal.job.jobId === row.job_id
    ? tellAnswer(deps, ref)
    : readWhole(deps, row);
}

/** Waits until an uncertainty is no longer open; at most `waitMs`. */
export async function waitForAnswer(
  deps: UncertaintyDeps,
  { principal, signal }: RequestContext,
  { waitMs, ...ref }: UncertaintyRef & { waitMs: number },
): Promise<Uncertainty> {
  const { reader } = deps.database;
  const parked = deps.decisionWaiters.park(ref.workspaceId, ref.uncertaintyId, waitMs, signal);
  try {
    const { status } = await requireReadable(reader, principal, ref);
    if (status === 'open') await parked.ended;
  } finally {
    parked.cancel();
  }
  const row = await requireReadable(reader, principal, ref);
  // Nothing was told to a client that went away.
  const isTold = !signal.aborted && (await isAsker(reader, principal, row));
  return isTold ? tellAnswer(deps, ref) : readWhole(deps, row);
}

/** A page, newest first, and one more when there is a next page. */
export async function listWholeUncertainties(
  { database, clock }: UncertaintyDeps,
  input: ListInput,
  before: string | null,
): Promise<Uncertainty[]> {
  const { workspaceId, limit } = input;
  const rows = await listUncertainties(database, workspaceId, input, { limit, before });
  const ids = rows.map((row) => row.uncertainty_id);
  const resolutions = await listResolutions(database, database.reader, workspaceId, ids);
  return rows.map((row) => {
    const own = resolutions.filter(({ uncertainty_id }) => uncertainty_id === row.uncertainty_id);
    return presentUncertainty(row, own, clock.nowMs());
  });
}

/**
 * @throws HubError UNCERTAINTY_NOT_FOUND; for a job token NOT_ALLOWED, whether or not there is such
 *   an uncertainty beyond its run.
 */
async function requireReadable(
  reader: Reader,
  principal: Principal,
  { workspaceId, uncertaintyId }: UncertaintyRef,
): Promise<UncertaintyRow> {
  const row = await readUncertainty(reader, workspaceId, uncertaintyId);
  if (!mayRead(principal, row)) {
    throw new HubError('NOT_ALLOWED', 'A job token may only read what its own run asks.');
  }
  if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
  return row;
}

/** Whether who waits does so for the job that asked: its tool, or the agent that holds it. */
async function isAsker(
  reader: Reader,
  principal: Principal,
  { workspace_id: workspaceId, job_id: jobId }: UncertaintyRow,
): Promise<boolean> {
  if (jobId === null) return false;
  if (principal.job !== null) return principal.job.jobId === jobId;
  const entry = await readEntry(reader, workspaceId, jobId);
  if (entry?.status !== 'running' || entry.agent_id === null) return false;
  const agent = await readAgent(reader, workspaceId, entry.agent_id);
  return agent?.principal_id === principal.principalId;
}

/** Reads, and notes in the same action that the job that asked knows by this what it read. */
function tellAnswer(deps: UncertaintyDeps, ref: UncertaintyRef): Promise<Uncertainty> {
  const { workspaceId, uncertaintyId } = ref;
  return deps.database.write(workspaceId, async (tx) => {
    const row = await readUncertainty(tx, workspaceId, uncertaintyId);
    if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
    if (row.job_id !== null) await noteAnswersSeen(tx, workspaceId, row.job_id, uncertaintyId);
    const resolutions = await listResolutions(deps.database, tx, workspaceId, [uncertaintyId]);
    return presentUncertainty(row, resolutions, tx.nowMs);
  });
}

async function readWhole(
  { database, clock }: UncertaintyDeps,
  row: UncertaintyRow,
): Promise<Uncertainty> {
  const { workspace_id: workspaceId, uncertainty_id: id } = row;
  const resolutions = await listResolutions(database, database.reader, workspaceId, [id]);
  return presentUncertainty(row, resolutions, clock.nowMs());
}
