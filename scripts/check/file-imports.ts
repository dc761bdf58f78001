import { lineAt, parseSource, type SyntaxNode, visitNodes } from './source-syntax.ts';

/** One import of a file. */
export interface FileImport {
  /** As written; in the graph, the resolved path. */
  readonly target: string;
  /** Counts from 1. */
  readonly line: number;
  /** Removed when types are stripped. */
  readonly typeOnly: boolean;
}

interface ImportNode extends SyntaxNode {
  readonly importKind?: string;
  readonly exportKind?: string;
  readonly source?: { readonly value?: unknown } | null;
  readonly expression?: { readonly value?: unknown } | null;
}

/**
 * Finds all imports of a source file: statements, re-exports, dynamic imports with a literal, and
 * `import('x').Type`.
 *
 * @throws if the file is not valid TypeScript; the message gives the position.
 */
export function readImports(file: string, source: string): FileImport[] {
  const found: FileImport[] = [];
  visitNodes(parseSource(file, source), (node: ImportNode) => {
    const target = targetOf(node);
    if (target === undefined) return;
    const typeOnly =
      node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type';
    found.push({ target, line: lineAt(source, node.start), typeOnly });
  });
  return found;
}

function targetOf(node: ImportNode): string | undefined {
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
