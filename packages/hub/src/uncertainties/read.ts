import type {
  DecisionSituation,
  endpoints,
  ListedUncertainty,
  RequestInput,
  Uncertainty,
  UncertaintyCounts,
  UncertaintyStatus,
} from '@signalbox/contract';
import { readAgent } from '../agents/store.ts';
import { HubError } from '../base/errors.ts';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import { readEntry } from '../queue/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { isVisible, mayRead } from './policy.ts';
import { presentSummary, presentToAsker, presentUncertainty } from './present.ts';
import { readSituation } from './situation.ts';
import { readUncertainty, type UncertaintyRow, updateAnswersSeen } from './store.ts';
import {
  countUncertainties,
  listUncertainties,
  listUncertaintySummaries,
  type UncertaintyFilter,
} from './store-list.ts';
import { listResolutionSummaries, listResolutions } from './store-resolutions.ts';

type ListInput = RequestInput<typeof endpoints.uncertainties.list.request>;
type CountInput = RequestInput<typeof endpoints.uncertainties.counts.request>;

export interface UncertaintyRef {
  workspaceId: string;
  uncertaintyId: string;
}

/**
 * Returns an uncertainty with its resolutions, and for people what waits for it. A read by the tool
 * of the job that asked delivers the answer to that job.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, NOT_ALLOWED
 */
export async function getUncertainty(
  deps: HubDeps,
  { principal }: RequestContext,
  ref: UncertaintyRef,
): Promise<{ uncertainty: Uncertainty; situation: DecisionSituation | null }> {
  const { reader } = deps.database;
  const row = await requireReadable(reader, principal, ref);
  if (principal.job !== null) {
    const isAnswerSeen = principal.job.jobId === row.job_id;
    const uncertainty = await (isAnswerSeen
      ? deliverAnswer(deps, ref)
      : readWhole(deps, row, presentToAsker));
    return { uncertainty, situation: null };
  }
  const present = (await isHolder(reader, principal, row)) ? presentToAsker : presentUncertainty;
  const [uncertainty, situation] = await Promise.all([
    readWhole(deps, row, present),
    readSituation(deps, row),
  ]);
  return { uncertainty, situation };
}

/** Lists a page, newest first, and one more if there is a next page. */
export async function listPage(
  { database, clock }: HubDeps,
  principal: Principal,
  input: ListInput,
  page: { limit: number; before: string | null },
): Promise<ListedUncertainty[]> {
  const { reader } = database;
  const { workspaceId, view } = input;
  const filter = filterOf(principal, input);
  if (view === 'summary' && !filter.forAsker) {
    const rows = await listUncertaintySummaries(reader, workspaceId, filter, page);
    const ids = rows.map((row) => row.uncertainty_id);
    const answers = await listResolutionSummaries(reader, workspaceId, ids);
    const lastOf = new Map(answers.map((answer) => [answer.uncertainty_id, answer]));
    return rows.map((row) => presentSummary(row, lastOf.get(row.uncertainty_id), clock.nowMs()));
  }
  const rows = await listUncertainties(reader, workspaceId, filter, page);
  const ids = rows.map((row) => row.uncertainty_id);
  const resolutions = await listResolutions(reader, workspaceId, ids);
  const present = filter.forAsker ? presentToAsker : presentUncertainty;
  return rows.map((row) => {
    const own = resolutions.filter(({ uncertainty_id }) => uncertainty_id === row.uncertainty_id);
    return present(row, own, clock.nowMs());
  });
}

/** Counts uncertainties by status. */
export function countByStatus(
  { database: { reader } }: HubDeps,
  principal: Principal,
  input: CountInput,
): Promise<{ counts: UncertaintyCounts; capped: UncertaintyStatus[] }> {
  return countUncertainties(reader, input.workspaceId, filterOf(principal, input));
}

function filterOf(
  { principalId, job }: Principal,
  input: CountInput & { status?: UncertaintyStatus },
): UncertaintyFilter {
  const { status, kind, repoId, runId, jobId, promoted, mine } = input;
  const wanted = { status, kind, repoId, runId, jobId, promoted, mine };
  return { ...wanted, principalId, forAsker: job !== null };
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
  if (row === undefined || !isVisible(principal, row)) throw new HubError('UNCERTAINTY_NOT_FOUND');
  return row;
}

/** Reads an uncertainty for the job that asked, and records in the same transaction that it did. */
export function deliverAnswer(deps: HubDeps, ref: UncertaintyRef): Promise<Uncertainty> {
  const { workspaceId, uncertaintyId } = ref;
  return deps.database.write(workspaceId, async (tx) => {
    const row = await readUncertainty(tx, workspaceId, uncertaintyId);
    if (row === undefined) throw new HubError('UNCERTAINTY_NOT_FOUND');
    if (row.job_id !== null) await updateAnswersSeen(tx, workspaceId, row.job_id, uncertaintyId);
    const resolutions = await listResolutions(tx, workspaceId, [uncertaintyId]);
    return presentToAsker(row, resolutions, tx.nowMs);
  });
}

/** Whether the caller is the agent that holds the job that asked. */
export async function isHolder(
  reader: Reader,
  { principalId }: Principal,
  { workspace_id: workspaceId, job_id: jobId }: UncertaintyRow,
): Promise<boolean> {
  if (jobId === null) return false;
  const entry = await readEntry(reader, workspaceId, jobId);
  if (entry?.status !== 'running' || entry.agent_id === null) return false;
  const agent = await readAgent(reader, workspaceId, entry.agent_id);
  return agent?.principal_id === principalId;
}

/** Reads the resolutions of an uncertainty and presents it. */
export async function readWhole(
  { database, clock }: HubDeps,
  row: UncertaintyRow,
  present: typeof presentUncertainty,
): Promise<Uncertainty> {
  const { workspace_id: workspaceId, uncertainty_id: id } = row;
  const resolutions = await listResolutions(database.reader, workspaceId, [id]);
  return present(row, resolutions, clock.nowMs());
}
