import { endpointPaths } from 'virtual:contract-data';
import type { Change, ChangeKind, Membership, ResponseOf } from '@signalbox/contract';
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ConsoleRows } from '../api/hub-call.ts';
import { type IdRange, isInRange } from '../api/job-pages.ts';
import { type LiveMessage, LiveSource } from './live-source.ts';
import { setLiveState } from './live-state.ts';

/** The first parts of the keys of the queries that a change of a kind makes old. */
const keysByKind: Partial<Record<ChangeKind, readonly string[]>> = {
  job: ['job', 'jobs', 'job-page', 'job-counts', 'runs', 'agents'],
  jobEvents: ['job', 'job-events', 'job-log'],
  // The page of a job counts its open threads, which an approval needs resolved.
  reviewComment: ['review-comments', 'job'],
  uncertainty: [
    ...['uncertainties', 'uncertainty', 'uncertainty-counts', 'notifications'],
    ...['job', 'jobs', 'job-page'],
  ],
  run: ['runs', 'run-choices', 'has-runs'],
  agent: ['agents', 'agent-names', 'job', 'jobs', 'job-page'],
  repository: ['repositories', 'pauses', 'jobs', 'job-page'],
  queue: ['pauses', 'repositories', 'job', 'jobs', 'job-page'],
  contextItem: ['context-items'],
  contextPack: ['runs'],
  upload: ['uploads'],
  workspace: ['workspace-settings', 'pauses'],
  member: ['members', 'people'],
  invitation: ['invitations'],
  token: ['service-tokens', 'device-tokens'],
  auditEntry: ['audit'],
  trigger: ['triggers'],
  chatTeam: ['chat-teams'],
  integrationSecret: ['integration-secrets'],
  mailAccount: ['mail-accounts'],
  integrationEvent: ['integration-events', 'triggers'],
};
/** Queries of one job, or of one work: the third part of their key is its id. */
const ofOneJob = new Set(['job', 'job-events', 'job-log', 'review-comments']);
const kindsOfJobs: ReadonlySet<ChangeKind> = new Set(['job', 'jobEvents', 'reviewComment']);

/** The ids of other jobs on the page of a job: of its work, landing, variants and reviews. */
function relatedIds(data: unknown): readonly (string | null)[] {
  const {
    work,
    rounds = [],
    variants = [],
    reviews = [],
  } = (data ?? {}) as Partial<ResponseOf<ConsoleRows['jobs']['get']>>;
  const ids = [...rounds, ...variants, ...reviews].map(({ jobId }) => jobId);
  return work === undefined ? ids : [...ids, work.workJobId, work.landing?.jobId ?? null];
}

/** Whether a change makes the query of this key, with this data, old. */
export function isMadeOld([name, , id]: QueryKey, change: Change, data?: unknown): boolean {
  if (typeof name !== 'string' || !keysByKind[change.kind]?.includes(name)) return false;
  if (name === 'job-page' && change.kind === 'job' && change.id !== null) {
    // The third part of the key of jobPageQuery.
    return isInRange(id as IdRange, change.id);
  }
  const isOfOneJob = ofOneJob.has(name) && kindsOfJobs.has(change.kind);
  if (!isOfOneJob || change.id === null || change.id === id) return true;
  return name === 'job' && change.kind !== 'jobEvents' && relatedIds(data).includes(change.id);
}

/** Reads of one query for changes begin no more often than this; in a long burst, less often. */
const READ_GAP_MS = 300;
const READ_GAP_MS_MAX = 1_000;
/** Pause before another look at queries that must wait for this gap or for a read under way. */
const LOOK_AGAIN_MS = 50;

/**
 * Reads again what changed and is shown, and marks the rest as old. A query whose read is under
 * way is read once more after it: to begin again at each change would never end on a busy hub.
 */
export class ChangedQueries {
  readonly #client: QueryClient;
  readonly #waiting = new Set<string>();
  /** The latest reads, and the gap after each. */
  readonly #reads = new Map<string, { begunMs: number; gapMs: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: QueryClient) {
    this.#client = client;
  }

  add(workspaceId: string, changes: readonly Change[]): void {
    for (const { queryKey, queryHash, state } of this.#client.getQueryCache().getAll()) {
      if (queryKey[1] !== workspaceId) continue;
      if (changes.some((change) => isMadeOld(queryKey, change, state.data)))
        this.#waiting.add(queryHash);
    }
    if (this.#timer === undefined) this.#read();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #read(): void {
    const nowMs = performance.now();
    const due = new Set<string>();
    for (const hash of this.#waiting) {
      const query = this.#client.getQueryCache().get(hash);
      const { begunMs = 0, gapMs = 0 } = this.#reads.get(hash) ?? {};
      if (query?.state.fetchStatus === 'fetching' || nowMs - begunMs < gapMs) continue;
      this.#waiting.delete(hash);
      // Shown in place of data, a failure would alternate with a skeleton at each change.
      const isFailure = query?.state.status === 'error' && query.state.data === undefined;
      if (query !== undefined && !isFailure) due.add(hash);
    }
    for (const [hash, { begunMs, gapMs }] of this.#reads) {
      if (nowMs - begunMs > 2 * gapMs) this.#reads.delete(hash);
    }
    for (const hash of due) {
      const gapMs = (this.#reads.get(hash)?.gapMs ?? READ_GAP_MS / 2) * 2;
      this.#reads.set(hash, { begunMs: nowMs, gapMs: Math.min(gapMs, READ_GAP_MS_MAX) });
    }
    if (due.size > 0) {
      void this.#client.invalidateQueries({ predicate: ({ queryHash }) => due.has(queryHash) });
    }
    const isDone = this.#waiting.size === 0;
    this.#timer = isDone ? undefined : setTimeout(() => this.#read(), LOOK_AGAIN_MS);
  }
}

/**
 * The position of each workspace before this tab read anything of it. With a later one of another
 * answer of `session/get`, what was read before that answer could stay old.
 */
const beginnings = new Map<string, string>();

/** Keeps the cache of a workspace up to date while the shell is shown. */
export function useLive({ workspaceId, changesAfter }: Membership): void {
  const client = useQueryClient();
  const after = beginnings.get(workspaceId) ?? changesAfter;
  beginnings.set(workspaceId, after);
  useEffect(() => {
    const path = `${endpointPaths.changes.stream}?workspaceId=${encodeURIComponent(workspaceId)}`;
    const changed = new ChangedQueries(client);
    const leave = joinStream(new URL(path, window.location.href).href, after, (message) => {
      if (message.type === 'state') {
        setLiveState(message.state);
        if (message.state.kind === 'lost') askWhetherSignedIn(client, workspaceId);
      } else if (message.type === 'changes') changed.add(workspaceId, message.changes);
      else
        void client.invalidateQueries({ predicate: (query) => query.queryKey[1] === workspaceId });
    });
    return () => {
      leave();
      changed.close();
    };
  }, [client, workspaceId, after]);
}

/**
 * A browser does not tell a page why a stream was refused. A call does: when the session is over,
 * it leads to the sign-in page.
 */
function askWhetherSignedIn(client: QueryClient, workspaceId: string): void {
  const queryKey = ['uncertainty-counts', workspaceId];
  void client.refetchQueries({ queryKey }, { cancelRefetch: false });
}

/** Joins the stream that all tabs share, or opens one where the browser has no shared workers. */
function joinStream(
  url: string,
  after: string,
  receive: (message: LiveMessage) => void,
): () => void {
  if (typeof SharedWorker === 'undefined') {
    const source = new LiveSource(url, after, receive);
    return () => source.close();
  }
  const { port } = new SharedWorker(new URL('./shared-stream.ts', import.meta.url), {
    type: 'module',
    name: 'signalbox-live',
  });
  port.addEventListener('message', ({ data }) => receive(data as LiveMessage));
  port.start();
  port.postMessage({ url, after });
  const leave = () => port.postMessage({ url, after: null });
  window.addEventListener('pagehide', leave);
  return () => {
    window.removeEventListener('pagehide', leave);
    leave();
    port.close();
  };
}
