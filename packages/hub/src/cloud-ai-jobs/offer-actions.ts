import { ATTEMPTS_MAX_DEFAULT, type ContextItemKind } from '@signalbox/contract';
import type { ContextItemRow } from '../context/store.ts';
import type { Tx } from '../db/engine.ts';
import type { UncertaintiesTable } from '../db/schema/uncertainties.ts';
import type { HubDeps } from '../hub-deps.ts';
import { readCloudAiSettingsRow } from '../workspaces/store-cloud-ai-settings.ts';
import { addCloudAiJob, type CloudAiJobDraft } from './adding-actions.ts';
import { askForAnswer, askForSummary } from './hub-questions.ts';
import { hasJobAbout } from './store.ts';
import { subjectOf } from './subject.ts';

type OfferDeps = Pick<HubDeps, 'ids' | 'queue'>;

/** About 2,000 tokens, an eighth of a pack's default budget: below it the text itself fits. */
export const SUMMARIZED_CHARS_MIN = 8_000;
/** Behind everything that somebody asked for: nothing waits for these. */
const OFFER_PRIORITY = -100;

/** Kinds that come in from elsewhere, however long; people and the hub write the others short. */
const ingestedKinds: ReadonlySet<string> = new Set<ContextItemKind>([
  'document',
  'event',
  'chat_message',
  'mail_message',
  'upload_extract',
]);

/**
 * Enqueues the summary of a long ingested item, when the workspace wants summaries; once for each
 * state of its text. To be called in the action that has written the item.
 *
 * @returns the job's id; null when there is nothing to do.
 */
export async function offerSummary(
  deps: OfferDeps,
  tx: Tx,
  item: ContextItemRow,
): Promise<string | null> {
  const isWanted = item.text.length >= SUMMARIZED_CHARS_MIN && item.superseded_by === null;
  if (!isWanted || !ingestedKinds.has(item.kind)) return null;
  const { workspace_id: workspaceId } = item;
  const settings = await readCloudAiSettingsRow(tx, workspaceId);
  if (settings?.summarize_sources !== 1) return null;
  return offer(deps, tx, {
    ...{ workspaceId, kind: 'summarize_source', model: settings.model ?? undefined },
    subjectId: subjectOf(item),
    input: askForSummary(item),
  });
}

/**
 * Enqueues the draft of an answer to a decision request, when the workspace wants drafts and the
 * asker has recommended nothing; once for each. To be called in the action that promotes it.
 *
 * @returns the job's id; null when there is nothing to do.
 */
export async function offerDecisionDraft(
  deps: OfferDeps,
  tx: Tx,
  uncertainty: UncertaintiesTable,
): Promise<string | null> {
  if (uncertainty.recommended_value !== null) return null;
  const { workspace_id: workspaceId } = uncertainty;
  const settings = await readCloudAiSettingsRow(tx, workspaceId);
  if (settings?.draft_decision_answers !== 1) return null;
  return offer(deps, tx, {
    ...{ workspaceId, kind: 'draft_decision_answer', model: settings.model ?? undefined },
    ...{ subjectId: uncertainty.uncertainty_id, runId: uncertainty.run_id },
    jobId: uncertainty.job_id ?? undefined,
    ...askForAnswer(uncertainty),
  });
}

async function offer(
  deps: OfferDeps,
  tx: Tx,
  draft: Omit<CloudAiJobDraft, 'priority' | 'maxAttempts' | 'createdBy'> & { subjectId: string },
): Promise<string | null> {
  if (await hasJobAbout(tx, draft.workspaceId, draft.kind, draft.subjectId)) return null;
  const row = await addCloudAiJob(deps, tx, {
    ...draft,
    priority: OFFER_PRIORITY,
    maxAttempts: ATTEMPTS_MAX_DEFAULT,
    createdBy: 'hub',
  });
  return row.cloud_ai_job_id;
}
