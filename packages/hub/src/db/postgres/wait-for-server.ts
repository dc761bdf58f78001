import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { addressOf, causeOf, explainRefusal } from './explain-refusal.ts';
import { codeOf, isConnectionBroken, isServerFull } from './postgres-errors.ts';
import type { Sessions } from './postgres-session.ts';

const RETRY_MS = 250;
/** A connection may be lost on its way, so that another one is answered sooner. */
const TRY_MS_MAX = 10_000;
/** A server that takes longer to answer is worth a line. */
const SILENCE_MS = 1_000;

/** How long a start waits for a server that is starting, busy or full. */
export interface ServerWait {
  waitMs: number;
  /** Called at most once, with a sentence that says what the start waits for. */
  onWait: (text: string) => void;
}

/**
 * Makes the first connections, for which requests would not wait as long. The start then uses them.
 *
 * @throws StartError when the time has passed, and at once for a refusal that waiting cannot mend.
 */
export async function waitForServer(
  pools: readonly Sessions[],
  url: string,
  { waitMs, onWait }: ServerWait,
): Promise<void> {
  const endMs = performance.now() + waitMs;
  let hasSaid = false;
  const say = (reason: string) => {
    if (hasSaid) return;
    hasSaid = true;
    const seconds = Math.ceil(waitMs / 1_000);
    onWait(`waiting up to ${seconds} s for the database at ${addressOf(url)} (${reason}).`);
  };
  const silence = setTimeout(() => say('no answer yet'), SILENCE_MS);
  try {
    for (const sessions of pools) await openFirst(sessions, endMs, say);
  } catch (error) {
    throw explainRefusal(error, url);
  } finally {
    clearTimeout(silence);
  }
}

async function openFirst(sessions: Sessions, endMs: number, say: (reason: string) => void) {
  let before: unknown;
  for (;;) {
    const leftMs = Math.max(endMs - performance.now(), 1);
    try {
      return await sessions.openFirst(Math.min(leftMs, TRY_MS_MAX));
    } catch (error) {
      const cause = causeOf(error);
      const mayPass = isConnectionBroken(cause) || isServerFull(cause);
      if (!mayPass) throw error;
      // The last try has what is left of the time, which may be too short for any answer.
      const isCut = leftMs < TRY_MS_MAX && codeOf(cause) === null;
      if (performance.now() + RETRY_MS >= endMs) throw isCut ? (before ?? error) : error;
      before = error;
      say(cause instanceof Error ? cause.message : String(cause));
    }
    await setTimeoutPromise(RETRY_MS);
  }
}
