// The compiler of TypeScript 7 has no programming interface; rolldown (which builds the console)
// brings a parser that reads types too.
import { parseAst } from 'rolldown/parseAst';

/** A node of the syntax tree; what else it has depends on its type (ESTree, with types). */
export interface SyntaxNode {
  readonly type: string;
  /** Offset in the source, in UTF-16 units. */
  readonly start: number;
}

/** @throws when the file is no TypeScript; the message names the place. */
export function parseSource(file: string, source: string): unknown {
  return parseAst(source, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' }, file);
}

/** Shows every node of a tree to `see`, outer before inner. */
export function visitNodes(tree: unknown, see: (node: SyntaxNode) => void): void {
  if (Array.isArray(tree)) {
    for (const item of tree) visitNodes(item, see);
  } else if (typeof tree === 'object' && tree !== null) {
    if ('type' in tree && 'start' in tree) see(tree as SyntaxNode);
    for (const item of Object.values(tree)) visitNodes(item, see);
  }
}

/** The line of an offset; lines count from 1. */
export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}
