import type { AnswerOf, endpoints, RequestInput } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { answerOnce, hashJson } from '../idempotency/answer-once.ts';
import { listRecentPrompts } from '../jobs/store.ts';
import { readRun } from '../runs/store.ts';
import type { ContextDeps } from './deps.ts';
import { PackSelection } from './pack-selection.ts';
import { searchItemIds } from './search/search.ts';
import { significantTermsOf } from './search/terms.ts';
import { listPinned, listRecent, type PackCandidate, readCandidates } from './store.ts';
import { copyItemsIntoPack, readNextVersion } from './store-packs.ts';

type BuildInput = RequestInput<typeof endpoints.contextPacks.buildRunV1.request>;
type PackAnswer = AnswerOf<typeof endpoints.contextPacks.buildRunV1>;

/** How many candidates of each kind are considered: more than any usual budget holds. */
const PINNED_MAX = 200;
const RELEVANT_MAX = 300;
const RECENT_MAX = 300;
const PROMPTS_MAX = 5;
/** How many significant words are taken from the goal, and from all prompts together. */
const GOAL_TERMS_MAX = 20;
const PROMPT_TERMS_MAX = 12;
/** Selection ends when fewer tokens than this are left. */
const TOKENS_WORTH_FILLING = 16;
const SUCCESSORS_MAX = 20;
const WARNED_IDS_MAX = 20;
/** Selections made concurrently with other writes, which may change the selected items. */
const CONCURRENT_SELECTIONS_MAX = 3;

/** An item was changed between its selection and its copying into the pack. */
class StaleSelectionError extends Error {}

/**
 * Builds the next pack of a run. Items are selected from committed data, outside of any
 * transaction, because the selection takes long. Then one transaction copies the selected items
 * into the pack, if none has changed since. When items change too often, the transaction makes the
 * selection as well. Every build makes a new version, even when nothing changed; the content hash
 * shows that.
 *
 * @throws HubError RUN_NOT_FOUND; NOT_ALLOWED for a job token that chooses items, or replaces the
 *   pack that later jobs of the run get.
 */
export async function buildRunPack(
  deps: ContextDeps,
  principal: Principal,
  input: BuildInput,
): Promise<PackAnswer> {
  if (principal.job !== null && input.requestedContextItemIds.length > 0) {
    throw new HubError('NOT_ALLOWED', 'With a job token, the hub alone selects the items.');
  }
  const call = { operation: 'contextPacksBuildRunV1', principal, input };
  const build = (select: (tx: Tx) => Selected | Promise<Selected>) =>
    deps.database.write(input.workspaceId, (tx) =>
      answerOnce(tx, call, async () => writePack(deps, tx, principal, input, await select(tx))),
    );
  for (let tries = 0; tries < CONCURRENT_SELECTIONS_MAX; tries++) {
    const selected = await selectItems(deps, deps.database.reader, input);
    try {
      return await build(() => selected);
    } catch (error) {
      if (!(error instanceof StaleSelectionError)) throw error;
    }
  }
  return build((tx) => selectItems(deps, tx, input));
}

interface Selected {
  selection: PackSelection;
  warnings: string[];
}

async function selectItems(
  { clock }: ContextDeps,
  reader: Reader,
  input: BuildInput,
): Promise<Selected> {
  const { workspaceId, runId } = input;
  const run = await readRun(reader, workspaceId, runId);
  if (run === undefined) throw new HubError('RUN_NOT_FOUND');
  const selection = new PackSelection(input.tokenBudget, clock.nowMs());
  const warnings = await offerRequested(reader, input, selection);
  for (const item of await listPinned(reader, workspaceId, PINNED_MAX)) {
    selection.offer(item, 'pinned');
  }
  warnings.push(...(await offerRelevant(reader, workspaceId, run, selection)));
  await offerRecent(reader, workspaceId, selection);
  return { selection, warnings };
}

async function offerRequested(
  reader: Reader,
  { workspaceId, requestedContextItemIds }: BuildInput,
  selection: PackSelection,
): Promise<string[]> {
  const wanted = [...new Set(requestedContextItemIds)];
  const candidates = await readCandidates(reader, workspaceId, wanted);
  const unknown: string[] = [];
  for (const id of wanted) {
    const item = candidates.get(id);
    if (item === undefined) {
      unknown.push(id);
      continue;
    }
    selection.offer(item, 'requested');
    const successor = await findSuccessor(reader, item);
    if (successor !== null) selection.offer(successor, 'requested');
  }
  const warnings = unknown
    .slice(0, WARNED_IDS_MAX)
    .map((id) => `The requested item ${id} does not exist in this workspace.`);
  const more = unknown.length - warnings.length;
  if (more > 0) warnings.push(`${more} more of the requested items do not exist.`);
  return warnings;
}

/** Finds the current item at the end of a superseded item's chain. Null for a current item. */
async function findSuccessor(reader: Reader, item: PackCandidate): Promise<PackCandidate | null> {
  let current = item;
  for (let steps = 0; steps < SUCCESSORS_MAX && current.superseded_by !== null; steps++) {
    const successorId: string = current.superseded_by;
    const found = await readCandidates(reader, item.workspace_id, [successorId]);
    const next = found.get(successorId);
    if (next === undefined) return null;
    current = next;
  }
  return current === item ? null : current;
}

async function offerRelevant(
  reader: Reader,
  workspaceId: string,
  run: { run_id: string; title: string | null; goal: string | null },
  selection: PackSelection,
): Promise<string[]> {
  const goal = [run.title, run.goal].filter((text) => text !== null).join('\n');
  const prompts = await listRecentPrompts(reader, workspaceId, run.run_id, PROMPTS_MAX);
  const terms = new Set([
    ...significantTermsOf(goal, GOAL_TERMS_MAX),
    ...significantTermsOf(prompts.join('\n'), PROMPT_TERMS_MAX),
  ]);
  if (terms.size === 0) {
    return ['The run has no goal and no jobs, so no item was selected by relevance.'];
  }
  if (selection.tokensLeft < TOKENS_WORTH_FILLING) return [];
  const ids = await searchItemIds(reader, {
    workspaceId,
    terms: [...terms],
    includeSuperseded: false,
    limit: RELEVANT_MAX,
  });
  const candidates = await readCandidates(reader, workspaceId, ids);
  for (const id of ids) {
    const item = candidates.get(id);
    if (item !== undefined) selection.offer(item, 'relevant');
  }
  return [];
}

async function offerRecent(
  reader: Reader,
  workspaceId: string,
  selection: PackSelection,
): Promise<void> {
  if (selection.tokensLeft < TOKENS_WORTH_FILLING) return;
  for (const item of await listRecent(reader, workspaceId, RECENT_MAX)) {
    if (selection.tokensLeft < TOKENS_WORTH_FILLING) return;
    selection.offer(item, 'recent');
  }
}

async function writePack(
  { ids }: ContextDeps,
  tx: Tx,
  principal: Principal,
  input: BuildInput,
  { selection, warnings }: Selected,
): Promise<PackAnswer> {
  const { workspaceId, runId } = input;
  const packId = ids('contextPack');
  const version = await readNextVersion(tx, workspaceId, runId);
  if (principal.job !== null && version > 1) {
    const message = 'The run has a context pack, which a job token cannot replace: resolve it.';
    throw new HubError('NOT_ALLOWED', message);
  }
  const { chosen, omitted } = selection;
  const copied = await copyItemsIntoPack(
    tx,
    { workspaceId, packId },
    chosen.map(({ item, reason }, position) => ({
      position,
      itemId: item.item_id,
      contentHash: item.content_hash,
      updatedAtMs: item.updated_at,
      reason,
    })),
  );
  if (copied < chosen.length) throw new StaleSelectionError();
  const contentHash = hashJson(
    chosen.map(({ item }) => [item.item_id, item.title, item.content_hash]),
  );
  const tokenEstimate = chosen.reduce((sum, { item }) => sum + item.tokens, 0);
  insertRow(tx, 'context_packs', {
    workspace_id: workspaceId,
    pack_id: packId,
    run_id: runId,
    version,
    content_hash: contentHash,
    token_budget: input.tokenBudget,
    token_estimate: tokenEstimate,
    expansion_hints: JSON.stringify(input.expansionHints),
    created_by: principal.principalId,
    created_at: tx.nowMs,
  });
  const items = chosen.map(({ item, reason }) => ({
    itemId: item.item_id,
    title: item.title,
    source: item.source,
    reason,
    trust: item.trust,
    tokens: item.tokens,
  }));
  return { packId, runId, version, contentHash, tokenEstimate, items, omitted, warnings };
}
