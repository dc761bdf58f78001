import type { AlikeResult, endpoints, RequestInput } from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { alreadyResolved } from './already-resolved.ts';
import { requireUncertainty } from './require-uncertainty.ts';
import { resolveUncertainty } from './resolve.ts';
import type { UncertaintyRow } from './store.ts';
import { readResolution } from './store-resolutions.ts';

type AlikeInput = RequestInput<typeof endpoints.uncertainties.resolveAlike.request>;

/**
 * Gives the same answer to alike questions, in one transaction. Each gets a resolution of its own,
 * which can be withdrawn alone. One that is resolved already does not prevent it for the others.
 *
 * @throws HubError UNCERTAINTY_NOT_FOUND, INVALID_REQUEST, IDEMPOTENCY_CONFLICT
 */
export function resolveAlike(
  deps: HubDeps,
  principal: Principal,
  input: AlikeInput,
): Promise<{ results: AlikeResult[]; idempotent?: boolean }> {
  return deps.database.write(input.workspaceId, (tx) =>
    answerOnce(tx, { operation: 'uncertaintiesResolveAlike', principal, input }, async () => {
      const rows = await readAlike(tx, principal, input);
      const results: AlikeResult[] = [];
      for (const row of rows) results.push(await resolveOne(deps, tx, principal, row, input));
      return { results };
    }),
  );
}

async function readAlike(
  tx: Tx,
  principal: Principal,
  { workspaceId, uncertaintyIds }: AlikeInput,
): Promise<UncertaintyRow[]> {
  const rows = new Map<string, UncertaintyRow>();
  for (const [index, id] of uncertaintyIds.entries()) {
    const path = `/uncertaintyIds/${index}`;
    if (rows.has(id)) throw invalidField(path, 'must not be named twice');
    const row = await requireUncertainty(tx, principal, workspaceId, id);
    const [first = row] = rows.values();
    if (row.alike_key === null) throw invalidField(path, 'needs an answer of its own');
    if (row.alike_key !== first.alike_key) throw invalidField(path, 'must be like the first');
    rows.set(id, row);
  }
  return [...rows.values()];
}

async function resolveOne(
  deps: HubDeps,
  tx: Tx,
  { principalId, displayName }: Principal,
  row: UncertaintyRow,
  { mode, value, confidence, undoMs }: AlikeInput,
): Promise<AlikeResult> {
  const { workspace_id: workspaceId, uncertainty_id: uncertaintyId } = row;
  const resolution = await resolveUncertainty(deps, tx, row, {
    mode,
    value,
    confidence,
    commit_sha: null,
    created_by_job_id: null,
    created_by: displayName,
    created_by_id: principalId,
    supersede: false,
    undoMs,
  });
  if (resolution === null) {
    const last = await readResolution(tx, workspaceId, uncertaintyId);
    const { code, message } = alreadyResolved(last, 'Send supersede to replace the answer.');
    return { uncertaintyId, result: 'refused', error: code, message };
  }
  const { resolution_id: resolutionId } = resolution;
  await appendAudit(tx, {
    workspaceId,
    actor: principalId,
    action: 'uncertainty.resolve',
    subject: uncertaintyId,
    data: { resolutionId, mode },
  });
  return { uncertaintyId, result: 'resolved', resolutionId };
}
