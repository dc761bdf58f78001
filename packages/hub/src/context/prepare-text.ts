import { isDeepStrictEqual } from 'node:util';
import type { Computation, SideThread } from '../base/side-thread.ts';
import type { Database, EngineName } from '../db/engine.ts';
import {
  applyPolicyToText,
  type DataPolicy,
  type PolicyText,
  readDataPolicy,
} from './data-policy.ts';
import { splitText } from './search/search.ts';
import type { SplitText } from './search/word-index.ts';

/** A text up to this long takes a millisecond, as does the way to another thread. */
export const SHORT_TEXT_CHARS = 8_000;

/** A text with all that takes long done: it is redacted, cut, and split into words. */
export interface PreparedText extends PolicyText {
  /** The policy that was applied. */
  policy: DataPolicy;
  split: SplitText;
}

interface ArrivingText {
  engine: EngineName;
  policy: DataPolicy;
  text: string;
  /** Whether the secrets were redacted before. */
  isRedacted: boolean;
}

export const textPreparation: Computation<ArrivingText, PreparedText> = {
  module: import.meta.url,
  name: 'textPreparation',
  compute({ engine, policy, text, isRedacted }) {
    const kept = applyPolicyToText(policy, text, isRedacted);
    return { ...kept, policy, split: splitText(engine, kept.text) };
  },
};

export interface TextDeps {
  database: Pick<Database, 'engine' | 'reader'>;
  sideThread: SideThread;
}

/**
 * Prepares a long text for `addContextItem`, before the transaction that writes it. It would stop
 * the event loop, and all other writes, for tens of milliseconds otherwise.
 *
 * @returns undefined for a short text.
 */
export async function prepareText(
  { database, sideThread }: TextDeps,
  workspaceId: string,
  text: string,
  isRedacted = false,
): Promise<PreparedText | undefined> {
  if (text.length <= SHORT_TEXT_CHARS) return undefined;
  const policy = await readDataPolicy(database.reader, workspaceId);
  const arriving = { engine: database.engine, policy, text, isRedacted };
  return sideThread.run(workspaceId, textPreparation, arriving);
}

/** Prepares the text of a draft, unless that was done under the policy of its transaction. */
export function finishText(
  engine: EngineName,
  policy: DataPolicy,
  { text, preparedText }: { text: string; preparedText?: PreparedText | undefined },
): PreparedText {
  return preparedText !== undefined && isDeepStrictEqual(preparedText.policy, policy)
    ? preparedText
    : textPreparation.compute({ engine, policy, text, isRedacted: false });
}
