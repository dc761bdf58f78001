import { TEXT_CHARS_MAX, type Uncertainty } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { describeResolution } from '../uncertainties/already-resolved.ts';
import { isForConsole } from '../uncertainties/console-only.ts';
import { requireAnswerable } from '../uncertainties/require-uncertainty.ts';
import { resolveAs } from '../uncertainties/resolve.ts';
import { readResolution } from '../uncertainties/store-resolutions.ts';
import { quote } from './content.ts';
import { actForMessage, readMessagePrincipal } from './message-principal.ts';

export interface MessageAnswer {
  workspaceId: string;
  uncertaintyId: string;
  /** Proved by the way in which the message came. */
  personId: string;
  via: 'slack' | 'mail';
  value: string;
  /** The same whenever the message comes again. */
  idempotencyKey: string;
}

export type MessageOutcome =
  /** `isRepeated`: by the same message before. */
  | { kind: 'answered'; uncertainty: Uncertainty; isRepeated: boolean }
  /** It was answered, or ended otherwise, before: `Ada answered “yes”`, and when. */
  | { kind: 'late'; deed: string; atMs: number }
  /** Only a person at the console settles it. */
  | { kind: 'console' }
  /** In one sentence. */
  | { kind: 'refused'; text: string };

/** Of the answer that was faster. */
const QUOTED_CHARS_MAX = 240;

/**
 * Answers a question as a person who wrote a message or pressed a button elsewhere. It has the
 * rights that the person has at the moment, and the first answer wins.
 */
export async function answerFromMessage(
  deps: HubDeps,
  answer: MessageAnswer,
): Promise<MessageOutcome> {
  try {
    return await actForMessage(answer.workspaceId, answer.personId, () =>
      deps.database.write(answer.workspaceId, (tx) => answerWithin(deps, tx, answer)),
    );
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { kind: 'refused', text: error.message };
  }
}

async function answerWithin(
  deps: HubDeps,
  tx: Tx,
  { workspaceId, uncertaintyId, personId, via, value, idempotencyKey }: MessageAnswer,
): Promise<MessageOutcome> {
  const principal = await readMessagePrincipal(tx, workspaceId, personId);
  if (principal === null) throw new HubError('WORKSPACE_NOT_FOUND');
  if (!principal.scopes.has('decide')) {
    throw new HubError('NOT_ALLOWED', 'Your role in the workspace does not allow answers.');
  }
  const row = await requireAnswerable(tx, principal, workspaceId, uncertaintyId);
  if (isForConsole({ kind: row.kind, actionKey: row.action_key })) return { kind: 'console' };
  if (value.trim() === '' || value.length > TEXT_CHARS_MAX) {
    const limit = TEXT_CHARS_MAX.toLocaleString('en');
    throw new HubError('INVALID_REQUEST', `An answer has 1 to ${limit} characters.`);
  }
  const input = {
    workspaceId,
    uncertaintyId,
    value,
    idempotencyKey,
    mode: 'answered' as const,
    confidence: 1,
    supersede: false,
    undoMs: 0,
  };
  try {
    const { uncertainty, idempotent } = await resolveAs(deps, tx, principal, input, { via });
    return { kind: 'answered', uncertainty, isRepeated: idempotent === true };
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'ALREADY_RESOLVED') throw error;
    const last = await readResolution(tx, workspaceId, uncertaintyId);
    if (last === undefined) throw error;
    const deed = describeResolution(last, quote(last.value, QUOTED_CHARS_MAX));
    return { kind: 'late', deed, atMs: last.created_at };
  }
}
