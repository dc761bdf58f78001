import { existsSync, readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** A tenth of a processor for each whole one that other threads want. */
const NICENESS = 10;
const SELF = '/proc/thread-self';

/**
 * Lets the thread of the event loop go first when there are fewer processors than threads that
 * work. Call it within the thread that has time. Linux only: elsewhere a priority is the process's.
 */
export function yieldToEventLoop(): void {
  if (process.platform !== 'linux' || !existsSync(SELF)) return;
  // <process>/task/<thread>
  const threadId = Number(readlinkSync(SELF).split('/').at(-1));
  setPriority(threadId, Math.min(getPriority(threadId) + NICENESS, 19));
}
