import { ATTEMPTS_MAX_DEFAULT, type ContextItemKind } from '@signalbox/contract';
import type { ContextItemRow } from '../context/store.ts';
import type { Tx } from '../db/engine.ts';
import type { UncertaintiesTable } from '../db/schema/uncertainties.ts';
import type { HookDeps } from '../start/hooks.ts';
import { readCloudAiSettingsRow } from '../workspaces/store-cloud-ai-settings.ts';
import { addCloudAiJob, type CloudAiJobDraft } from './enqueue.ts';
import { askForAnswer, askForSummary, subjectOf } from './hub-questions.ts';
import { hasJobAbout } from './store.ts';

/** About 2,000 tokens, an eighth of a pack's default budget: below it the text itself fits. */
export const SUMMARIZED_CHARS_MIN = 8_000;
/** Below the priority of requested jobs, since no caller waits for these. */
const OFFER_PRIORITY = -100;

/** Kinds of ingested items, of any length. Items of other kinds are short. */
const ingestedKinds: ReadonlySet<string> = new Set<ContextItemKind>([
  'document',
  'event',
  'chat_message',
  'mail_message',
  'upload_extract',
]);

/**
 * Enqueues the summary of a long ingested item, if the workspace has summaries enabled; once for
 * each version of its text. An `onItemAdded` hook.
 *
 * @returns the job's id, or null when no job is needed.
 */
export async function offerSummary(
  deps: Pick<HookDeps, 'ids' | 'queue'>,
  tx: Tx,
  item: ContextItemRow,
): Promise<string | null> {
  const isWanted = item.text.length >= SUMMARIZED_CHARS_MIN && item.superseded_by === null;
  if (!isWanted || !ingestedKinds.has(item.kind)) return null;
  const { workspace_id: workspaceId } = item;
  const settings = await readCloudAiSettingsRow(tx, workspaceId);
  if (settings?.summarize_sources !== 1) return null;
  return offer(deps, tx, {
    workspaceId,
    kind: 'summarize_source',
    model: settings.model ?? undefined,
    subjectId: subjectOf(item),
    input: askForSummary(item),
  });
}

/**
 * Enqueues the draft of an answer to a decision request, if the workspace has drafts enabled and
 * the request has no recommended value; once for each request. An `onDecisionRequested` hook.
 *
 * @returns the job's id, or null when no job is needed.
 */
export async function offerDecisionDraft(
  deps: Pick<HookDeps, 'ids' | 'queue'>,
  tx: Tx,
  uncertainty: UncertaintiesTable,
): Promise<string | null> {
  // A question of a session is for its person only.
  if (uncertainty.recommended_value !== null || uncertainty.session !== null) return null;
  const { workspace_id: workspaceId } = uncertainty;
  const settings = await readCloudAiSettingsRow(tx, workspaceId);
  if (settings?.draft_decision_answers !== 1) return null;
  return offer(deps, tx, {
    workspaceId,
    kind: 'draft_decision_answer',
    model: settings.model ?? undefined,
    subjectId: uncertainty.uncertainty_id,
    runId: uncertainty.run_id ?? undefined,
    jobId: uncertainty.job_id ?? undefined,
    ...askForAnswer(uncertainty),
  });
}

async function offer(
  deps: Pick<HookDeps, 'ids' | 'queue'>,
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
