import type { Finding } from './check-imports.ts';
import { lineAt, parseSource, type SyntaxNode, visitNodes } from './source-syntax.ts';

interface CallNode extends SyntaxNode {
  readonly callee: MemberNode;
  readonly arguments: readonly ArgumentNode[];
}

interface MemberNode extends SyntaxNode {
  readonly name?: string;
  readonly object?: { readonly name?: string };
  readonly property?: { readonly name?: string };
}

interface ArgumentNode extends SyntaxNode {
  readonly properties?: readonly PropertyNode[];
}

interface PropertyNode extends SyntaxNode {
  readonly key?: { readonly name?: string };
  readonly value?: { readonly type: string; readonly value?: unknown };
}

const testFunctions = new Set(['test', 'it', 'describe', 'suite']);

/**
 * Finds marks that change which tests run without giving a reason: any `.only`, and skips and todos
 * without a reason. Allowed are `{ skip: 'why' }` and `t.skip('why')`.
 */
export function findTestMarks(file: string, source: string): Finding[] {
  const findings: Finding[] = [];
  visitNodes(parseSource(file, source), (node) => {
    if (node.type !== 'CallExpression') return;
    for (const message of judgeCall(node as CallNode)) {
      findings.push({ file, line: lineAt(source, node.start), message });
    }
  });
  return findings;
}

function judgeCall({ callee, arguments: given }: CallNode): string[] {
  const object = callee.object?.name;
  const mark = callee.property?.name ?? '';
  if (object !== undefined && testFunctions.has(object)) {
    if (mark === 'only') return ['.only leaves the other tests out'];
    if (mark === 'skip' || mark === 'todo') return [`give a reason: { ${mark}: 'why' }`];
  }
  // `t.skip()`: only a test context has this method without arguments.
  if ((mark === 'skip' || mark === 'todo') && object !== undefined && given.length === 0) {
    return [`give a reason: ${object}.${mark}('why')`];
  }
  const isTest = testFunctions.has(callee.name ?? '') || mark === 'test';
  return isTest ? given.flatMap(judgeOptions) : [];
}

function judgeOptions({ type, properties = [] }: ArgumentNode): string[] {
  if (type !== 'ObjectExpression') return [];
  return properties.flatMap(({ key, value }) => {
    const name = key?.name ?? '';
    if (name === 'only') return ['only leaves the other tests out'];
    if (name !== 'skip' && name !== 'todo') return [];
    const isBare = value?.type === 'Literal' && (value.value === true || value.value === '');
    return isBare ? [`give a reason: { ${name}: 'why' }`] : [];
  });
}
