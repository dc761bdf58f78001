import type { endpoints, RequestInput, Uncertainty } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal, RequestContext } from '../principal.ts';
import { mayRead } from './policy.ts';
import { presentUncertainty } from './present.ts';
import {
  listUncertainties,
  readUncertainty,
  type UncertaintyRow,
  updateAnswersSeen,
} from './store.ts';
import { listResolutions } from './store-resolutions.ts';

type ListInput = RequestInput<typeof endpoints.uncertainties.list.request>;

export interface UncertaintyRef {
  workspaceId: string;
  uncertaintyId: string;
}

/**
 * Returns an uncertainty with its resolutions. A read by the tool of the job that asked delivers
 * the answer to that job.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, NOT_ALLOWED
 */
export async function getUncertainty(
  deps: HubDeps,
  { principal }: RequestContext,
  ref: UncertaintyRef,
): Promise<Uncertainty> {
  const row = await requireReadable(deps.database.reader, principal, ref);
  return principal.job !== null && principal.job.jobId === row.job_id
    ? deliverAnswer(deps, ref)
    : readWhole(deps, row);
}

/** Lists a page, newest first, and one more if there is a next page. */
export async function listWholeUncertainties(
  { database, clock }: HubDeps,
  input: ListInput,
  page: { limit: number; before: string | null },
): Promise<Uncertainty[]> {
  const { workspaceId } = input;
  const rows = await listUncertainties(database, workspaceId, input, page);
  const ids = rows.map((row) => row.uncertainty_id);
  const resolutions = await listResolutions(database, database.reader, workspaceId, ids);
  return rows.map((row) => {
    const own = resolutions.filter(({ uncertainty_id }) => uncertainty_id === row.uncertainty_id);
    return presentUncertainty(row, own, clock.nowMs());
  });
}

/**
 * @throws HubError UNCERTAINTY_NOT_FOUND; for a job token always NOT_ALLOWED outside its run, so
 *   that it cannot probe for ids.
 */
export async function requireReadable(
  reader: Reader,
  principal: Principal,
  { workspaceId, uncertaintyId }: UncertaintyRef,
): Promise<UncertaintyRow> {
  const row = await readUncertainty(reader, workspaceId, uncertaintyId);
  if (!mayRead(principal, row)) {
    throw new HubError('NOT_ALLOWED', 'A job token may only read uncertainties of its own run.');
  }
  if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
  return row;
}

/** Reads an uncertainty for the job that asked, and records in the same transaction that it did. */
export function deliverAnswer(deps: HubDeps, ref: UncertaintyRef): Promise<Uncertainty> {
  const { workspaceId, uncertaintyId } = ref;
  return deps.database.write(workspaceId, async (tx) => {
    const row = await readUncertainty(tx, workspaceId, uncertaintyId);
    if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
    if (row.job_id !== null) await updateAnswersSeen(tx, workspaceId, row.job_id, uncertaintyId);
    const resolutions = await listResolutions(deps.database, tx, workspaceId, [uncertaintyId]);
    return presentUncertainty(row, resolutions, tx.nowMs);
  });
}

/** Reads the resolutions of an uncertainty and presents it. */
export async function readWhole(
  { database, clock }: HubDeps,
  row: UncertaintyRow,
): Promise<Uncertainty> {
  const { workspace_id: workspaceId, uncertainty_id: id } = row;
  const resolutions = await listResolutions(database, database.reader, workspaceId, [id]);
  return presentUncertainty(row, resolutions, clock.nowMs());
}
