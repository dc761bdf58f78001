import type { Clock } from '../base/clock.ts';
import type { ReplyDeps } from '../notifications/answer-reply.ts';
import { type ReplyReport, readReplies } from '../notifications/read-replies.ts';
import { createLoop, type Loop } from './loop.ts';

/** As often as mail servers let programs sign in. */
const INTERVAL_MS = 30_000;

/** Reads replies to mails about questions. @param deps null: the hub reads none. */
export function createMailReplies(
  deps: ReplyDeps | null,
  clock: Clock,
  { onOutcome, onError }: ReplyReport,
): Loop<{ hasMore: boolean }> {
  const stopping = new AbortController();
  const loop = createLoop({
    ...{ name: 'mail-replies', intervalMs: INTERVAL_MS, clock },
    work: async () =>
      deps === null
        ? { hasMore: false }
        : await readReplies(deps, stopping.signal, { onOutcome, onError }),
    hasMore: ({ hasMore }) => hasMore,
    // A stop closes the connection of the pass in progress.
    onError: (error) => stopping.signal.aborted || onError(error),
  });
  return {
    ...loop,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}
