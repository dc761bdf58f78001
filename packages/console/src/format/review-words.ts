import type { ReviewComment } from '@signalbox/contract';

type Place = Pick<ReviewComment, 'side' | 'startLine' | 'endLine'>;

/** Such as `lines 4 to 5`; lines of the base are named, as they are not in the result. */
export function placeWords({ side, startLine, endLine }: Place): string {
  const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine} to ${endLine}`;
  return side === 'base' ? `${lines} before the change` : lines;
}

export const answerWords: Readonly<Record<'changed' | 'disagree' | 'question', string>> = {
  changed: 'The tool says: changed',
  disagree: 'The tool disagrees',
  question: 'The tool asks',
};

/** The words for what git says of the lines. */
export const fateWords: Readonly<Record<'changed' | 'moved' | 'untouched' | 'outdated', string>> = {
  changed: 'Git: lines changed',
  moved: 'Git: lines moved, not changed',
  untouched: 'Git: lines untouched',
  outdated: 'Git: lines not found',
};

/** The tool says that it has changed lines on which git finds no change. */
export function isContradicted({ answer, fate }: ReviewComment): boolean {
  return answer?.word === 'changed' && (fate?.state === 'untouched' || fate?.state === 'moved');
}

export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
