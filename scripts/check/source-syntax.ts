// The TypeScript 7 compiler has no API; rolldown (which builds the console) includes a parser that
// supports types.
import { parseAst } from 'rolldown/parseAst';

/** A node of the syntax tree; further properties depend on its type (ESTree with types). */
export interface SyntaxNode {
  readonly type: string;
  /** Offset in the source, in UTF-16 units. */
  readonly start: number;
}

/** @throws if the file is not valid TypeScript; the message gives the position. */
export function parseSource(file: string, source: string): unknown {
  return parseAst(source, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' }, file);
}

/** Calls `see` for every node of a tree, outer nodes first. */
export function visitNodes(tree: unknown, see: (node: SyntaxNode) => void): void {
  if (Array.isArray(tree)) {
    for (const item of tree) visitNodes(item, see);
  } else if (typeof tree === 'object' && tree !== null) {
    if ('type' in tree && 'start' in tree) see(tree as SyntaxNode);
    for (const item of Object.values(tree)) visitNodes(item, see);
  }
}

/** The line of an offset, counted from 1. */
export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}
