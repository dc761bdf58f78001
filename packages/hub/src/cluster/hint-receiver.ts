import type { Hints, WorkspaceHints } from './hint-payload.ts';

/** The reaction of a module to changes on other hubs. It ignores the kinds of other modules. */
export interface HintHandler {
  /** Handles hints about one workspace. */
  onWorkspaceHints?(workspaceId: string, hints: WorkspaceHints): Promise<void>;
  /** Handles kinds of which anything may have changed; null: hints may have been lost. */
  onKinds?(kinds: readonly string[] | null): void;
  /**
   * Finds changes for which no hint arrived, for all who wait on this hub together. It must not
   * query the database while no one waits.
   *
   * @param mayHaveMissed whether hints may have been lost since the last look.
   * @returns whether it has to look again because not everything was looked at.
   */
  look?(mayHaveMissed: boolean): Promise<boolean>;
}

export interface HintReceiver {
  /** Takes the hints of another hub; null: hints may have been lost. */
  receive(hints: Hints | null): void;
  /** Looks for changes for which no hint arrived. */
  look(): Promise<void>;
}

/**
 * Wakes those who wait on this hub for changes on other hubs. Hints make it fast; looking makes it
 * certain.
 */
export function createHintReceiver(
  handlers: readonly HintHandler[],
  isListening: () => boolean,
  onError: (error: unknown) => void,
): HintReceiver {
  /** Whether hints were lost: the next look finds out what they were about. */
  let hasMissed = false;
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    const mayHaveMissed = hasMissed || !isListening();
    hasMissed = false;
    try {
      const areIncomplete = await Promise.all(
        handlers.map(async (handler) => handler.look?.(mayHaveMissed)),
      );
      hasMissed ||= areIncomplete.includes(true);
    } catch (error) {
      hasMissed ||= mayHaveMissed;
      throw error;
    } finally {
      isLooking = false;
    }
  }

  function receive(hints: Hints | null): void {
    for (const handler of handlers) handler.onKinds?.(hints?.kinds ?? null);
    if (hints === null || hints.more) hasMissed = true;
    for (const [workspaceId, changes] of Object.entries(hints?.workspaces ?? {})) {
      if (changes.more) hasMissed = true;
      for (const handler of handlers) {
        handler.onWorkspaceHints?.(workspaceId, changes).catch(onError);
      }
    }
    if (hasMissed && !isLooking) look().catch(onError);
  }

  return { receive, look };
}
