/// <reference lib="webworker" />
import { common, createLowlight } from 'lowlight';
import type { Span } from './line-pieces.ts';

/** A file to color: the lines of each hunk, of one side. */
export interface ColorRequest {
  id: number;
  language: string;
  hunks: string[][];
}

/** The colors of each line, in the order of the request. */
export interface ColorAnswer {
  id: number;
  hunks: Span[][][];
}

const lowlight = createLowlight(common);

type TreeNode = ReturnType<typeof lowlight.highlight>['children'][number];

self.addEventListener('message', ({ data }: MessageEvent<ColorRequest>) => {
  const hunks = data.hunks.map((lines) => colorLines(data.language, lines));
  self.postMessage({ id: data.id, hunks } satisfies ColorAnswer);
});

/** A hunk begins in the middle of a file: what a longer construct began before it is not known. */
function colorLines(language: string, lines: readonly string[]): Span[][] {
  const spans: Span[][] = lines.map(() => []);
  let line = 0;
  let column = 0;
  const tree = lowlight.highlight(language, lines.join('\n'));
  for (const { text, color } of tree.children.flatMap((node) => coloredTexts(node, undefined))) {
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) {
        line += 1;
        column = 0;
      }
      const end = column + part.length;
      if (color !== undefined && part !== '') spans[line]?.push({ start: column, end, color });
      column = end;
    }
  }
  return spans;
}

interface ColoredText {
  text: string;
  color: string | undefined;
}

/** A text has the color of the innermost element around it. */
function coloredTexts(node: TreeNode, color: string | undefined): ColoredText[] {
  if (node.type === 'text') return [{ text: node.value, color }];
  if (node.type !== 'element') return [];
  const names = node.properties.className;
  const own = Array.isArray(names) ? String(names[0]) : color;
  return node.children.flatMap((child) => coloredTexts(child, own));
}
