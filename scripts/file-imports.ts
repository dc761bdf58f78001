// The compiler of TypeScript 7 has no programming interface; rolldown (which builds the console)
// brings a parser that reads types too.
import { parseAst } from 'rolldown/parseAst';

/** One import of a file. */
export interface FileImport {
  /** As written, or the resolved path once it is an edge of the graph. */
  readonly target: string;
  /** Counts from 1. */
  readonly line: number;
  /** Vanishes when types are stripped. */
  readonly typeOnly: boolean;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly importKind?: string;
  readonly exportKind?: string;
  readonly source?: { readonly value?: unknown } | null;
  readonly expression?: { readonly value?: unknown } | null;
}

/**
 * Every import of a source file: statements, re-exports, dynamic imports with a literal, and
 * `import('x').Type`.
 *
 * @throws when the file is no TypeScript; the message names the place.
 */
export function readImports(file: string, source: string): FileImport[] {
  const program = parseAst(source, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' }, file);
  const found: FileImport[] = [];
  visitNodes(program, (node) => {
    const target = targetOf(node);
    if (target === undefined) return;
    const typeOnly =
      node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type';
    found.push({ target, line: lineAt(source, node.start), typeOnly });
  });
  return found;
}

function targetOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return typeof node.source?.value === 'string' ? node.source.value : undefined;
    case 'TSExternalModuleReference':
      return typeof node.expression?.value === 'string' ? node.expression.value : undefined;
    default:
      return undefined;
  }
}

function visitNodes(value: unknown, see: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visitNodes(item, see);
  } else if (typeof value === 'object' && value !== null) {
    if ('type' in value && 'start' in value) see(value as SyntaxNode);
    for (const item of Object.values(value)) visitNodes(item, see);
  }
}

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}
