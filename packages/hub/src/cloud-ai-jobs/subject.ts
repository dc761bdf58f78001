/**
 * What a summary is about: an item in one state of its text, so that a replaced item is summarized
 * anew and the summary of its former text is not taken for one of the new.
 */
export function subjectOf(item: { item_id: string; content_hash: string }): string {
  return `${item.item_id} ${item.content_hash}`;
}

/** The item of a subject. */
export function itemIdOf(subject: string): string {
  return subject.split(' ')[0] ?? '';
}
