import { endpoints } from '@signalbox/contract';
import { readRole } from '../access/store.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import type { Api } from '../http/bind.ts';
import type { EventWriter } from '../http/event-stream.ts';
import { type ChangeFeed, mergeBatches } from './change-feed.ts';
import type { Batch } from './change-log.ts';
import { visibleKinds } from './visible-kinds.ts';

/** Of a token or a person on this hub. The console opens one per browser. */
const STREAMS_OF_CALLER_MAX = 16;
const RETRY_AFTER_MS = 10_000;

interface ChangeDeps {
  database: Pick<Database, 'reader'>;
  feed: ChangeFeed;
}

export function bindChangeRoutes(api: Api, { database, feed }: ChangeDeps): void {
  const openByCaller = new Map<string, number>();
  api.bindEvents(endpoints.changes.stream, async ({ workspaceId, after }, { principal }) => {
    const { personId, sessionId } = principal;
    const role =
      sessionId === null ? null : await readRole(database.reader, personId ?? '', workspaceId);
    const following = { workspaceId, after, kinds: visibleKinds(role), personId };
    return () => {
      const leaveSlot = takeSlot(openByCaller, callerOf(principal));
      return (writer) => {
        const leaveFeed = follow(feed, writer, following);
        return () => {
          leaveFeed();
          leaveSlot();
        };
      };
    };
  });
}

interface Following {
  workspaceId: string;
  after: string | undefined;
  kinds: ReturnType<typeof visibleKinds>;
  personId: string | null;
}

/** Writes the changes of a workspace to a client. @returns ends it. */
function follow(feed: ChangeFeed, writer: EventWriter, following: Following): () => void {
  const { workspaceId, after, kinds, personId } = following;
  const write = (event: 'open' | 'reset' | 'changes', seq: number, changes: Batch['changes']) =>
    writer.write({ event, id: log.positionAt(seq), data: { changes } });
  const reset = () => write('reset', log.seq, []);
  const { log, leave } = feed.listen(workspaceId, {
    onChanges({ seq, changes }) {
      const seen = changes.filter(({ kind }) => kinds.has(kind));
      if (seen.length > 0) write('changes', seq, seen);
      // Another role sees other kinds: the client opens a new stream.
      const isOwn =
        personId !== null &&
        seen.some(({ kind, id }) => kind === 'member' && (id === personId || id === null));
      if (isOwn) writer.end();
    },
    onReset: reset,
    onEnd: () => writer.end(),
  });
  writer.onDrained(reset);
  const missed = after === undefined ? [] : log.after(after);
  write(missed === null ? 'reset' : 'open', log.seq - (missed?.length ?? 0), []);
  const changes = mergeBatches(missed ?? []).filter(({ kind }) => kinds.has(kind));
  if (changes.length > 0) write('changes', log.seq, changes);
  return leave;
}

function callerOf({ kind, principalId, tokenId }: Principal): string {
  return kind === 'person' ? principalId : tokenId;
}

/** @throws HubError RATE_LIMITED */
function takeSlot(openByCaller: Map<string, number>, caller: string): () => void {
  const open = openByCaller.get(caller) ?? 0;
  if (open >= STREAMS_OF_CALLER_MAX) {
    throw new HubError(
      'RATE_LIMITED',
      `${STREAMS_OF_CALLER_MAX} streams of this caller are open: close one first.`,
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }
  openByCaller.set(caller, open + 1);
  return () => {
    const rest = (openByCaller.get(caller) ?? 1) - 1;
    if (rest === 0) openByCaller.delete(caller);
    else openByCaller.set(caller, rest);
  };
}
