import { addContextItem } from '../../context/add-item.ts';
import { readDataPolicy } from '../../context/data-policy.ts';
import { prepareText } from '../../context/prepare-text.ts';
import { NO_WORKSPACE } from '../../db/engine.ts';
import type { UploadDeps } from '../deps.ts';
import type { StoredUpload } from '../download.ts';
import { readUpload } from '../store.ts';
import type { DocumentFormat } from './document-format.ts';
import type { ExtractedText, ExtractFailure } from './extract-outcome.ts';
import { extractText } from './extract-text.ts';
import {
  claimDueExtracts,
  type ExtractRow,
  finishExtract,
  hasDueExtract,
  returnExtract,
} from './store.ts';

/** Documents read concurrently. Each takes a thread; two leave a small machine usable. */
const CONCURRENT_MAX = 2;
/** Longer than any attempt takes; after that, the hub that started it has died. */
const ATTEMPT_MS = 120_000;
/** An attempt ends without a result only when the hub dies, perhaps because of this document. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 60_000;

export interface ExtractionResult {
  claimed: number;
  hasMore: boolean;
}

/** Extracts the texts of a few uploads, oldest first. The table always has their current state. */
export async function extractDueTexts(
  deps: UploadDeps,
  signal: AbortSignal,
): Promise<ExtractionResult> {
  const { database, clock } = deps;
  if (!(await hasDueExtract(database.reader, clock.nowMs()))) return { claimed: 0, hasMore: false };
  const rows = await database.write(NO_WORKSPACE, (tx) =>
    claimDueExtracts(tx, { limit: CONCURRENT_MAX, attemptMs: ATTEMPT_MS }),
  );
  const results = await Promise.allSettled(rows.map((row) => extractOne(deps, row, signal)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { claimed: rows.length, hasMore: rows.length === CONCURRENT_MAX };
}

async function extractOne(deps: UploadDeps, row: ExtractRow, signal: AbortSignal): Promise<void> {
  const { database, byteStore } = deps;
  if (row.attempts > ATTEMPTS_MAX) return fail(deps, row, 'attempts_exhausted');
  try {
    // The extract was requested by the transaction that stored the upload, and both are deleted
    // together, so the upload exists and is stored.
    const upload = (await readUpload(
      database.reader,
      row.workspace_id,
      row.upload_id,
    )) as StoredUpload;
    const { redactSecrets: redacts } = await readDataPolicy(database.reader, row.workspace_id);
    const outcome = await byteStore.withFile(upload.object_key, (path) =>
      // The column's values come from `formatOf`.
      extractText({ path, format: row.format as DocumentFormat, redacts }, signal),
    );
    await ('failure' in outcome
      ? fail(deps, row, outcome.failure)
      : storeText(deps, row, upload, { ...outcome, isTextRedacted: redacts }));
  } catch (error) {
    // The hub is stopping or the byte store is unavailable: no fault of the document.
    const delayMs = signal.aborted ? 0 : RETRY_MS;
    await database.write(row.workspace_id, (tx) => returnExtract(tx, row, delayMs));
    if (!signal.aborted) throw error;
  }
}

async function fail({ database }: UploadDeps, row: ExtractRow, reason: ExtractFailure) {
  const end = { status: 'failed', reason, truncated: 0, context_item_id: null } as const;
  await database.write(row.workspace_id, (tx) => finishExtract(tx, row, end));
}

/** Adds the text as a context item and finishes the extract, in one transaction. */
async function storeText(
  deps: UploadDeps,
  row: ExtractRow,
  upload: StoredUpload,
  { text, truncated, isTextRedacted }: ExtractedText & { isTextRedacted: boolean },
): Promise<void> {
  const preparedText = await prepareText(deps, row.workspace_id, text, isTextRedacted);
  await deps.database.write(row.workspace_id, async (tx) => {
    const end = { status: 'done', reason: null, truncated: truncated ? 1 : 0 } as const;
    if (text === '') {
      await finishExtract(tx, row, { ...end, context_item_id: null });
      return;
    }
    const { item } = await addContextItem(tx, deps, {
      workspaceId: row.workspace_id,
      kind: 'upload_extract',
      title: upload.file_name,
      text,
      preparedText,
      source: 'upload',
      sourceRef: upload.upload_id,
      // The uploader is known, but the author of the document is not.
      trust: 'external',
      truncated,
      occurredAtMs: upload.created_at,
      createdBy: upload.created_by,
    });
    await finishExtract(tx, row, { ...end, context_item_id: item.item_id });
  });
}
