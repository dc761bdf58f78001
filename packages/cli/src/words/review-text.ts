import type { ReviewComment } from '@signalbox/contract';
import type { Styles } from '../terminal/io.ts';
import { cleanText, oneLine } from '../terminal/text.ts';

/** A place as a person writes it: `src/a.ts:12-14`. */
export function placeText({
  path,
  startLine,
  endLine,
}: Pick<ReviewComment, 'path' | 'startLine' | 'endLine'>): string {
  const range = startLine === endLine ? startLine : `${startLine}-${endLine}`;
  return `${oneLine(cleanText(path))}:${range}`;
}

/** The lines that show a comment, with its answer and its fate. */
export function commentLines(styles: Styles, comment: ReviewComment): string[] {
  const { number, repliesTo, side, author, text, answer, fate, resolvedAt } = comment;
  const name = number === null ? 'draft' : `#${number}`;
  const by = oneLine(cleanText(author.name ?? author.id));
  const facts = [
    ...(side === 'base' ? ['before the work'] : []),
    ...(repliesTo === null ? [] : ['a reply']),
    ...(resolvedAt === null ? [] : ['resolved']),
    by,
  ];
  const indented = cleanText(text)
    .split('\n')
    .map((line) => `    ${line}`);
  return [
    `${styles.bold(name)}  ${placeText(comment)}  ${styles.dim(facts.join(', '))}`,
    ...indented,
    ...(answer === null
      ? []
      : [`    The tool says: ${answer.word}. ${oneLine(cleanText(answer.note))}`]),
    ...(fate === null ? [] : [`    Git says: ${fateText(fate)}`]),
  ];
}

const fates = {
  changed: 'the round has changed these lines',
  moved: 'the same lines are at another place',
  untouched: 'the lines are untouched',
  outdated: 'the lines were not found',
} as const;

function fateText({ state, path, startLine, endLine }: NonNullable<ReviewComment['fate']>): string {
  if (path === null || startLine === null || endLine === null) return `${fates[state]}.`;
  return `${fates[state]}, ${placeText({ path, startLine, endLine })}.`;
}
