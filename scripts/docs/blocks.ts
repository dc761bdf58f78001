/** One fenced block of a page. */
export interface Block {
  /** Of the opening fence, from 1. */
  line: number;
  language: string;
  text: string;
  /** The words of the comment `<!-- docs:check … -->` before the block; empty without one. */
  directive: string;
}

/** The fenced blocks of a Markdown page, in order. Fences inside lists may be indented. */
export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = page.split('\n');
  let open: Block | null = null;
  let margin = '';
  let directive = '';
  for (const [index, line] of lines.entries()) {
    const fence = /^(\s*)```(\S*)\s*$/.exec(line);
    if (open !== null) {
      if (fence === null) open.text += `${line.slice(margin.length)}\n`;
      else {
        blocks.push(open);
        open = null;
      }
    } else if (fence !== null) {
      margin = fence[1] ?? '';
      open = { line: index + 1, language: fence[2] ?? '', text: '', directive };
      directive = '';
    } else if (line.trim() !== '') {
      directive = /^\s*<!-- docs:check (.+) -->$/.exec(line)?.[1] ?? '';
    }
  }
  return blocks;
}
