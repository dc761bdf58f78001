import type { Reader } from '../db/engine.ts';
import { describeResolution } from '../uncertainties/already-resolved.ts';
import { readUncertainty } from '../uncertainties/store.ts';
import { readResolution } from '../uncertainties/store-resolutions.ts';
import type { Message } from './content.ts';
import { shownAnswer } from './slack-message.ts';
import type { NotificationRow } from './store.ts';

type Sentences = Pick<Message, 'title' | 'text' | 'answer'>;

/**
 * The sentences that take the place of a question on a phone, as the question is now; null: the
 * person has ended it, or it was deleted, and nothing is to be said.
 *
 * @param asked the sentences that asked.
 * @param showsText whether the person wants texts in messages, which locked screens show.
 */
export async function readEndOfPush(
  reader: Reader,
  { workspace_id, subject_id, person_id }: NotificationRow,
  asked: Sentences,
  showsText: boolean,
): Promise<Sentences | null> {
  const row = await readUncertainty(reader, workspace_id, subject_id);
  if (row === undefined) return null;
  if (row.status !== 'resolved') return asked;
  const last = await readResolution(reader, workspace_id, subject_id);
  if (last === undefined || last.created_by_id === person_id) return null;
  const value = showsText ? shownAnswer(last.value, JSON.parse(row.options)) : null;
  return { title: `${describeResolution(last, value)}.`, text: asked.text, answer: null };
}
