import { offerSummary } from '../../cloud-ai-jobs/offer-actions.ts';
import { addContextItem } from '../../context/add-item.ts';
import { NO_WORKSPACE } from '../../db/engine.ts';
import type { StoredUpload } from '../create.ts';
import type { UploadDeps } from '../deps.ts';
import { settleUpload } from '../receive.ts';
import { listPending, readUpload } from '../store.ts';
import type { Format } from './document-format.ts';
import type { ExtractedText, ExtractFailure } from './extract-outcome.ts';
import { extractText } from './extract-text.ts';
import {
  type ExtractRow,
  finishExtract,
  hasDueExtract,
  returnExtract,
  takeDueExtracts,
} from './store.ts';

/** Documents read at the same time: a thread each, of which two leave room on a small machine. */
const DOCUMENTS_AT_ONCE = 2;
/** Longer than any attempt lasts; then the hub that began it has died. */
const ATTEMPT_MS = 120_000;
/** An attempt ends without an answer only when the hub dies with it: perhaps of this document. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 60_000;
const PENDING_PAGE = 20;

export interface ExtractionResult {
  taken: number;
  done: number;
}

/** Extracts the texts of a few uploads, oldest first; their state is in the table throughout. */
export async function extractDueTexts(
  deps: UploadDeps,
  signal: AbortSignal,
): Promise<ExtractionResult> {
  const { database, clock } = deps;
  if (!(await hasDueExtract(database.reader, clock.nowMs()))) return { taken: 0, done: 0 };
  const rows = await database.write(NO_WORKSPACE, (tx) =>
    takeDueExtracts(tx, { limit: DOCUMENTS_AT_ONCE, attemptMs: ATTEMPT_MS }),
  );
  const ends = await Promise.allSettled(rows.map((row) => extractOne(deps, row, signal)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { taken: rows.length, done: rows.length };
}

/** Whether the next piece should follow at once. */
export function hasMoreTexts({ taken }: ExtractionResult): boolean {
  return taken === DOCUMENTS_AT_ONCE;
}

async function extractOne(deps: UploadDeps, row: ExtractRow, signal: AbortSignal): Promise<void> {
  const { database, byteStore } = deps;
  if (row.attempts > ATTEMPTS_MAX) return fail(deps, row, 'attempts_exhausted');
  try {
    // Asked for in the action that stored the upload; neither goes away without the other.
    const upload = (await readUpload(
      database.reader,
      row.workspace_id,
      row.upload_id,
    )) as StoredUpload;
    const outcome = await byteStore.withFile(upload.object_key, (path) =>
      extractText({ path, format: row.format as Format }, signal),
    );
    await ('failure' in outcome
      ? fail(deps, row, outcome.failure)
      : keepText(deps, row, upload, outcome));
  } catch (error) {
    // The hub stops, or the byte store is away: neither is the document's doing.
    const delayMs = signal.aborted ? 0 : RETRY_MS;
    await database.write(row.workspace_id, (tx) => returnExtract(tx, row, delayMs));
    if (!signal.aborted) throw error;
  }
}

async function fail({ database }: UploadDeps, row: ExtractRow, reason: ExtractFailure) {
  const end = { status: 'failed', reason, truncated: 0, context_item_id: null } as const;
  await database.write(row.workspace_id, (tx) => finishExtract(tx, row, end));
}

/** The text and the row that says it is there, in one action. */
async function keepText(
  { database, ids, queue }: UploadDeps,
  row: ExtractRow,
  upload: StoredUpload,
  { text, truncated }: ExtractedText,
): Promise<void> {
  await database.write(row.workspace_id, async (tx) => {
    const end = { status: 'done', reason: null, truncated: truncated ? 1 : 0 } as const;
    if (text === '') {
      await finishExtract(tx, row, { ...end, context_item_id: null });
      return;
    }
    const { item } = await addContextItem(
      tx,
      { ids },
      {
        workspaceId: row.workspace_id,
        kind: 'upload_extract',
        title: upload.file_name,
        text,
        source: 'upload',
        sourceRef: upload.upload_id,
        // Whoever sent it, what a document says was written by anybody.
        trust: 'external',
        truncated,
        occurredAtMs: upload.created_at,
        createdBy: upload.created_by,
      },
    );
    await offerSummary({ ids, queue }, tx, item);
    await finishExtract(tx, row, { ...end, context_item_id: item.item_id });
  });
}

/**
 * Looks into the object store for bytes that clients have put there, a page of uploads at a time:
 * the store tells nobody when they arrive.
 *
 * @param after where the page before ended; null: from the beginning.
 * @returns where to go on; null at the end.
 */
export async function settleArrived(
  deps: UploadDeps,
  after: { expiresAtMs: number; uploadId: string } | null,
): Promise<{ expiresAtMs: number; uploadId: string } | null> {
  if (deps.byteStore.signer === null) return null;
  const rows = await listPending(deps.database.reader, {
    afterExpiryMs: after?.expiresAtMs ?? 0,
    afterId: after?.uploadId ?? '',
    limit: PENDING_PAGE,
  });
  for (const row of rows) await settleUpload(deps, row);
  const last = rows.at(-1);
  if (last === undefined || rows.length < PENDING_PAGE) return null;
  return { expiresAtMs: last.expires_at, uploadId: last.upload_id };
}
