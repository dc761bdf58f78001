import type { Clock } from '../clock.ts';
import type { HubClient } from '../hub-client.ts';
import { removeToolTree } from '../process/tool-file.ts';
import { jobDirectory, type StateDirectory } from '../state-directory.ts';
import type { Backoff } from './backoff.ts';
import { createChangeSignal, type Loop, startLoop, UNTIL_WOKEN_MS } from './loop.ts';
import type { Outbox, OutboxEntry } from './outbox.ts';
import { deliverEntry, type Settlement, substituteFor } from './outbox-delivery.ts';

export interface OutboxLoop extends Loop {
  /** Stores a result on disk. Resolves when it is stored, not when it is sent. */
  add(entry: OutboxEntry): Promise<void>;
  /** Resolves when the hub has answered this attempt's result, or the loop has ended. */
  settled(key: string): Promise<void>;
  /** Resolves when no result is waiting, or the loop has ended. */
  empty(): Promise<void>;
}

/**
 * Replays results until the hub accepts or definitely rejects them (lease lost, job deleted). No
 * answer, a 5xx, a 429 or a rejected token is not definite, so the result stays. When the loop
 * stops, unsent results stay on disk for the next start; a result is never canceled.
 */
export function startOutboxLoop(options: {
  client: HubClient;
  workspaceId: string;
  state: StateDirectory;
  outbox: Outbox;
  clock: Clock;
  backoff: Backoff;
  onSettled(entry: OutboxEntry, settlement: Settlement): void;
  onDefect(error: unknown): void;
}): OutboxLoop {
  const { client, outbox, clock, backoff } = options;
  const changes = createChangeSignal();
  const open = new Set<string>();
  let isRead = false;
  let hasEnded = false;

  async function settle(entry: OutboxEntry, settlement: Settlement): Promise<void> {
    const directory = jobDirectory(options.state, entry.attempt.key);
    if (settlement.accepted) {
      await outbox.remove(entry);
    } else {
      const { code, message } = settlement;
      const refusal = { code, message, at: new Date(clock.nowMs()).toISOString() };
      const substitute = substituteFor(entry, refusal);
      if (substitute !== null) {
        await outbox.replace(entry, refusal, substitute);
        options.onSettled(entry, settlement);
        return loop.wake();
      }
      await outbox.refuse(entry, refusal, directory.logFile);
    }
    await removeToolTree(directory.path);
    open.delete(entry.attempt.key);
    options.onSettled(entry, settlement);
    changes.notify();
  }

  async function runOnce(stopping: AbortSignal): Promise<number> {
    const entries = await outbox.list();
    for (const entry of entries) open.add(entry.attempt.key);
    isRead = true;
    for (const entry of entries) {
      // Results of another workspace wait for the agent that serves it.
      if (entry.attempt.workspaceId !== options.workspaceId) {
        open.delete(entry.attempt.key);
        continue;
      }
      const files = jobDirectory(options.state, entry.attempt.key);
      const answer = await deliverEntry(client, entry, { ...files, outbox }, stopping);
      // A failure that blocks one result blocks all.
      if ('kind' in answer) {
        return backoff.nextDelayMs(answer.kind === 'retry' ? answer.retryAfterMs : 0);
      }
      await settle(entry, answer);
      backoff.reset();
    }
    changes.notify();
    return UNTIL_WOKEN_MS;
  }

  const loop = startLoop({ clock, runOnce, onDefect: options.onDefect });
  return {
    wake: () => loop.wake(),
    async stop() {
      await loop.stop();
      hasEnded = true;
      changes.notify();
    },
    async add(entry) {
      open.add(entry.attempt.key);
      await outbox.put(entry);
      loop.wake();
    },
    settled: (key) => changes.until(() => hasEnded || !open.has(key)),
    empty: () => changes.until(() => hasEnded || (isRead && open.size === 0)),
  };
}
