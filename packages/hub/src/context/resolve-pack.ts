import {
  type ContextItemKind,
  type endpoints,
  FRESH_HINT,
  type PackFreshness,
  type PackSection,
  type RequestInput,
} from '@signalbox/contract';
import { timestampOf } from '../clock.ts';
import { HubError } from '../errors.ts';
import { readDataPolicy } from './add-item.ts';
import { redactSecrets } from './data-policy.ts';
import type { ContextDeps } from './deps.ts';
import { fetchLiveThreads } from './mail/fetch-live-threads.ts';
import { bareId } from './mail/message-id.ts';
import { type ThreadText, writeThread } from './mail/thread-text.ts';
import { presentMarkdown, presentSection } from './present-pack.ts';
import { listPackItems, type PackItemRow, readPack, readRunTopic } from './store-packs.ts';

type ResolveInput = RequestInput<typeof endpoints.contextPacks.resolveRunV1.request>;

export interface ResolveAnswer {
  packId: string;
  sections: PackSection[];
  markdown?: string;
  freshness: PackFreshness;
}

/** Further threads stay as they were cached; ten seconds are not enough for more. */
const LIVE_THREADS_MAX = 20;

/** A thread of the pack, with its live text or with why there is none. */
type ThreadState = { live: ThreadText; fetchedAtMs: number } | { failure: string };

/**
 * The content of a pack: the texts as they were when it was built, and for mail threads, when
 * `fresh_v1` was asked for now or at the build, what the mail server has of them now.
 *
 * @throws HubError RUN_NOT_FOUND, CONTEXT_PACK_NOT_FOUND; nothing for what a mail server does.
 */
export async function resolveRunPack(
  deps: ContextDeps,
  input: ResolveInput,
  signal: AbortSignal,
): Promise<ResolveAnswer> {
  const { reader } = deps.database;
  const { workspaceId, runId, format } = input;
  if ((await readRunTopic(reader, workspaceId, runId)) === undefined) {
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
  const fetched = await fetchLiveThreads(
    deps,
    workspaceId,
    refs.slice(0, LIVE_THREADS_MAX),
    signal,
  );
  // Live text is never written, so how much of it may be stored is no question; secrets are.
  const { redactSecrets: redacts } = await readDataPolicy(deps.database.reader, workspaceId);
  const fetchedAtMs = deps.clock.nowMs();
  for (const ref of refs) {
    const thread = fetched.get(ref);
    if (thread === undefined) {
      const failure = `Only ${LIVE_THREADS_MAX} threads are fetched at a time.`;
      states.set(ref, { failure });
    } else if ('failure' in thread) {
      states.set(ref, thread);
    } else {
      const live = writeThread(thread.messages, thread.leftOut);
      if (redacts) live.text = redactSecrets(live.text);
      states.set(ref, { live, fetchedAtMs });
    }
  }
  return states;
}

/**
 * One section has all of a live thread, the others say where theirs is. Of a message that the
 * server has no more the cached text stays.
 */
function writeSections(
  { secretKey }: ContextDeps,
  rows: readonly PackItemRow[],
  threads: ReadonlyMap<string, ThreadState>,
): PackSection[] {
  const bearers = new Map([...threads.keys()].map((ref) => [ref, findBearer(rows, threads, ref)]));
  return rows.map((row) => {
    const state = isMail(row) ? threads.get(row.thread_ref) : undefined;
    if (!isMail(row) || state === undefined || 'failure' in state) {
      return presentSection(row, secretKey);
    }
    const { live, fetchedAtMs } = state;
    const fetchedAt = timestampOf(fetchedAtMs);
    const bearer = bearers.get(row.thread_ref);
    if (row.item_id === bearer) {
      const { text, truncated } = live;
      return presentSection(row, secretKey, { text, truncated, fetchedAt });
    }
    if (!isInThread(row, live)) return presentSection(row, secretKey);
    const text = `(This message is part of the thread in the section of ${bearer}.)`;
    return presentSection(row, secretKey, { text, truncated: false, fetchedAt });
  });
}

/** The first item that loses nothing by it; when no message is known by its id, the first. */
function findBearer(
  rows: readonly PackItemRow[],
  threads: ReadonlyMap<string, ThreadState>,
  threadRef: string,
): string | undefined {
  const state = threads.get(threadRef);
  const own = rows.filter((row) => isMail(row) && row.thread_ref === threadRef);
  const bearer =
    state !== undefined && 'live' in state
      ? own.find((row) => isInThread(row, state.live))
      : undefined;
  return (bearer ?? own[0])?.item_id;
}

function isInThread(row: PackItemRow, { messageIds }: ThreadText): boolean {
  const messageId = bareId(row.source_ref ?? undefined);
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
