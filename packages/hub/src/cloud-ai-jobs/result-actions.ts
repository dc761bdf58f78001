import type { CloudAiResult } from '@signalbox/contract';
import { Compile } from 'typebox/compile';
import { addContextItem, SUMMARY_SOURCE } from '../context/add-item.ts';
import { readItem } from '../context/store.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../hub-deps.ts';
import { recommendValue } from '../uncertainties/store-drafts.ts';
import { DecisionDraft } from './hub-questions.ts';
import type { CloudAiJobRow } from './store.ts';
import { itemIdOf, subjectOf } from './subject.ts';

/** The bound of a title in the contract. */
const TITLE_CHARS_MAX = 1_000;

const decisionDraft = Compile(DecisionDraft);

/**
 * Puts the result of a job that the hub itself enqueued where it belongs, in the action of its
 * completion. What it was about may have changed or gone since: then the result stays with the job
 * alone. Of other jobs the result is whoever's enqueued them.
 */
export async function placeResult(
  deps: Pick<HubDeps, 'ids' | 'queue' | 'hooks'>,
  tx: Tx,
  row: CloudAiJobRow,
  result: CloudAiResult,
): Promise<void> {
  const { workspace_id: workspaceId, subject_id: subject } = row;
  if (subject === null) return;
  if (row.kind === 'summarize_source') {
    await placeSummary(deps, tx, { workspaceId, subject, text: result.text?.trim() ?? '' });
  } else if (row.kind === 'draft_decision_answer' && decisionDraft.Check(result.json)) {
    await recommendValue(tx, workspaceId, subject, result.json.value);
  }
}

async function placeSummary(
  deps: Pick<HubDeps, 'ids' | 'queue' | 'hooks'>,
  tx: Tx,
  summary: { workspaceId: string; subject: string; text: string },
): Promise<void> {
  const { workspaceId, subject, text } = summary;
  const item = await readItem(tx, workspaceId, itemIdOf(subject));
  if (text === '' || item === undefined || subjectOf(item) !== subject) return;
  if (item.superseded_by !== null) return;
  await addContextItem(tx, deps, {
    workspaceId,
    kind: 'knowledge_artifact',
    title: `Summary: ${item.title}`.slice(0, TITLE_CHARS_MAX).toWellFormed(),
    text,
    source: SUMMARY_SOURCE,
    // The summary of a replaced item takes the place of the one before.
    sourceRef: item.item_id,
    // Whoever could write the source could write into its summary.
    trust: item.trust,
    occurredAtMs: item.occurred_at,
    createdBy: 'hub',
  });
}
