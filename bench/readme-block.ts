/** What stands between these in README.md is written by the bench. */
const beginMark = '<!-- bench -->';
const endMark = '<!-- /bench -->';

/** @throws Error when the page has no room for the table. */
export function readBlock(page: string): string {
  const [begin, end] = findMarks(page);
  return page.slice(begin, end).trim();
}

/** The page with the block replaced. @throws Error when the page has no room for it. */
export function replaceBlock(page: string, block: string): string {
  const [begin, end] = findMarks(page);
  return `${page.slice(0, begin)}\n${block.trim()}\n${page.slice(end)}`;
}

function findMarks(page: string): [number, number] {
  const begin = page.indexOf(beginMark);
  const end = page.indexOf(endMark);
  if (begin === -1 || end < begin) {
    throw new Error(`The page has no ${beginMark} … ${endMark}.`);
  }
  return [begin + beginMark.length, end];
}
