import {
  type AnswerOf,
  type ContextItemKind,
  type endpoints,
  FRESH_HINT,
  type PackFreshness,
  type PackSection,
  type RequestInput,
} from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import { readRun } from '../runs/store.ts';
import { readDataPolicy } from './data-policy.ts';
import type { ContextDeps } from './deps.ts';
import { fetchLiveThreads } from './mail/fetch-live-threads.ts';
import { parseMessageId } from './mail/message-id.ts';
import { renderThread, type ThreadText } from './mail/thread-text.ts';
import { presentMarkdown, presentSection } from './present-pack.ts';
import { listPackItems, type PackItemRow, readPack } from './store-packs.ts';

type ResolveInput = RequestInput<typeof endpoints.contextPacks.resolveRunV1.request>;

/** The time limit allows no more. Further threads keep their cached text. */
const LIVE_THREADS_MAX = 20;

/** A thread of the pack with its live text, or the reason why it could not be fetched. */
type ThreadState = { live: ThreadText; fetchedAtMs: number } | { failure: string };

/**
 * Returns the content of a pack: the texts as of its build. Mail threads are fetched from the mail
 * server when the hint `fresh_v1` was given now or at the build.
 *
 * @throws HubError RUN_NOT_FOUND, CONTEXT_PACK_NOT_FOUND. A failing mail server is reported in
 *   `freshness` instead.
 */
export async function resolveRunPack(
  deps: ContextDeps,
  input: ResolveInput,
  signal: AbortSignal,
): Promise<AnswerOf<typeof endpoints.contextPacks.resolveRunV1>> {
  const { reader } = deps.database;
  const { workspaceId, runId, format } = input;
  if ((await readRun(reader, workspaceId, runId)) === undefined) {
    throw new HubError('RUN_NOT_FOUND');
  }
  const pack = await readPack(reader, workspaceId, runId, input.packId);
  if (pack === undefined) throw new HubError('CONTEXT_PACK_NOT_FOUND');
  const rows = await listPackItems(reader, workspaceId, pack.pack_id);
  const hints = [...(JSON.parse(pack.expansion_hints) as string[]), ...input.expansionHints];
  const requested = hints.includes(FRESH_HINT);
  const threads = requested
    ? await fetchThreads(deps, workspaceId, rows, signal)
    : new Map<string, ThreadState>();
  const sections = writeSections(deps, rows, threads);
  return {
    packId: pack.pack_id,
    sections,
    ...(format === 'markdown' ? { markdown: presentMarkdown(pack, sections) } : {}),
    freshness: { requested, threads: describeThreads(rows, threads) },
  };
}

function isMail(row: PackItemRow): row is PackItemRow & { thread_ref: string } {
  const kind: ContextItemKind = 'mail_message';
  return row.kind === kind && row.thread_ref !== null;
}

async function fetchThreads(
  deps: ContextDeps,
  workspaceId: string,
  rows: readonly PackItemRow[],
  signal: AbortSignal,
): Promise<Map<string, ThreadState>> {
  const refs = [...new Set(rows.filter(isMail).map((row) => row.thread_ref))];
  const states = new Map<string, ThreadState>();
  if (refs.length === 0) return states;
  // Live text is not stored, so only the redaction of the data policy applies.
  const { redactSecrets: redacts } = await readDataPolicy(deps.database.reader, workspaceId);
  const fetched = await fetchLiveThreads(
    { ...deps, reading: { redacts } },
    workspaceId,
    refs.slice(0, LIVE_THREADS_MAX),
    signal,
  );
  const fetchedAtMs = deps.clock.nowMs();
  for (const ref of refs) {
    const thread = fetched.get(ref);
    if (thread === undefined) {
      const failure = `At most ${LIVE_THREADS_MAX} threads are fetched per call.`;
      states.set(ref, { failure });
    } else if ('failure' in thread) {
      states.set(ref, thread);
    } else {
      const live = renderThread(thread.messages, thread.leftOut);
      states.set(ref, { live, fetchedAtMs });
    }
  }
  return states;
}

/**
 * Puts the whole text of a live thread into one section; the other sections of the thread refer to
 * it. A message that the server no longer has keeps its cached text.
 */
function writeSections(
  { secretKey }: ContextDeps,
  rows: readonly PackItemRow[],
  threads: ReadonlyMap<string, ThreadState>,
): PackSection[] {
  const carriers = new Map(
    [...threads.keys()].map((ref) => [ref, findCarrier(rows, threads, ref)]),
  );
  return rows.map((row) => {
    const state = isMail(row) ? threads.get(row.thread_ref) : undefined;
    if (!isMail(row) || state === undefined || 'failure' in state) {
      return presentSection(row, secretKey);
    }
    const { live, fetchedAtMs } = state;
    const fetchedAt = timestampOf(fetchedAtMs);
    const carrier = carriers.get(row.thread_ref);
    if (row.item_id === carrier) {
      const { text, truncated } = live;
      return presentSection(row, secretKey, { text, truncated, fetchedAt });
    }
    if (!isInThread(row, live)) return presentSection(row, secretKey);
    const text = `(This message is part of the thread in the section of ${carrier}.)`;
    return presentSection(row, secretKey, { text, truncated: false, fetchedAt });
  });
}

/**
 * Finds the item whose section carries the live thread: the first whose message is part of it,
 * else the first item of the thread.
 */
function findCarrier(
  rows: readonly PackItemRow[],
  threads: ReadonlyMap<string, ThreadState>,
  threadRef: string,
): string | undefined {
  const state = threads.get(threadRef);
  const own = rows.filter((row) => isMail(row) && row.thread_ref === threadRef);
  const carrier =
    state !== undefined && 'live' in state
      ? own.find((row) => isInThread(row, state.live))
      : undefined;
  return (carrier ?? own[0])?.item_id;
}

function isInThread(row: PackItemRow, { messageIds }: ThreadText): boolean {
  const messageId = parseMessageId(row.source_ref ?? undefined);
  return messageId !== null && messageIds.has(messageId);
}

function describeThreads(
  rows: readonly PackItemRow[],
  threads: ReadonlyMap<string, ThreadState>,
): PackFreshness['threads'] {
  return [...threads].map(([threadRef, state]) => {
    if ('live' in state) {
      return { threadRef, textKind: 'live', fetchedAt: timestampOf(state.fetchedAtMs) };
    }
    const cachedAtMs = Math.max(
      ...rows.filter((row) => row.thread_ref === threadRef).map((row) => row.fetched_at),
    );
    const fetchedAt = timestampOf(cachedAtMs);
    return { threadRef, textKind: 'cached', fetchedAt, message: state.failure };
  });
}
