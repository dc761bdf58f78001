/** The bench writes the text between these marks in RESULTS.md. */
const beginMark = '<!-- bench -->';
const endMark = '<!-- /bench -->';

/** @throws Error if the page has no such marks. */
export function readBlock(page: string): string {
  const [begin, end] = findMarks(page);
  return page.slice(begin, end).trim();
}

/** Returns the page with the block replaced. @throws Error if the page has no such marks. */
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
