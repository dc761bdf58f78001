import { SharedAnswers } from '../http/shared-answers.ts';
import type { ChangeFeed } from './change-feed.ts';

/**
 * Creates the answers that callers share. They are kept while somebody follows the changes of the
 * hub and no other hub can change the database unnoticed.
 *
 * @param isAlone whether this hub is the only one of its database.
 */
export function shareAnswers(feed: ChangeFeed, isAlone: () => boolean): SharedAnswers {
  const answers = new SharedAnswers(() => isAlone() && feed.count > 0);
  feed.onChange(({ kind, id }) => {
    if (kind === 'job' || kind === 'jobEvents') answers.forget(id);
  });
  return answers;
}
