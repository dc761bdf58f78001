/** More changes than this make another word, not a slip. */
const CHANGES_MAX = 3;

/** The known word that a mistyped one is nearest to; null if none is near. */
export function nearestOf(word: string, known: readonly string[]): string | null {
  // Of words as near, the one that begins alike: slips are rare in the first letter.
  const beginsElse = ({ each }: { each: string }) => (each[0] === word[0] ? 0 : 1);
  const near = known
    .map((each) => ({ each, changes: changesBetween(word.toLowerCase(), each) }))
    .filter(({ each, changes }) => changes <= Math.min(CHANGES_MAX, Math.ceil(each.length / 3)))
    .toSorted((one, other) => one.changes - other.changes || beginsElse(one) - beginsElse(other));
  return near[0]?.each ?? null;
}

/** Characters to insert, delete or replace (Levenshtein). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, char] of [...from].entries()) {
    const next = [at + 1];
    for (let index = 1; index <= to.length; index++) {
      const replaced = (row[index - 1] ?? 0) + (char === to[index - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
