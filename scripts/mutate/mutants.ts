import { createHash } from 'node:crypto';
import { lineAt, parseSource, type SyntaxNode } from '../check/source-syntax.ts';

/** One small fault, to be planted into a source file. */
export interface Mutant {
  /** Stays the same when other lines of the file change. */
  readonly id: string;
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  readonly operator: string;
  /** Offsets of `original` in the source, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
}

interface Edit {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

interface Node extends SyntaxNode {
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Operators and their faults: the other side of the boundary, or the opposite. */
const swappedOperators: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '-': '+',
  '*': '/',
};

/** A word that the program compares or stores, such as a status. Messages have spaces. */
const storedWord = /^[a-z][a-z_-]{2,30}$/;
const sqlStatement = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ORDER BY)\b|^\s*AND\b/;

/**
 * The faults in the text of a statement. A comparison of `workspace_id` stays: ids are unique
 * across workspaces, so most statements find the same rows without it.
 */
const sqlFaults: readonly [operator: string, find: RegExp, replace: (found: string) => string][] = [
  ['SQL word', /'[a-z][a-z_-]{2,30}'/g, () => "'mutant'"],
  ['SQL boundary', /(?<= )[<>]=?(?= )/g, (found) => swappedOperators[found] ?? found],
  ['SQL null', /\bIS (NOT )?NULL\b/g, (found) => (found === 'IS NULL' ? 'IS NOT NULL' : 'IS NULL')],
  [
    'SQL condition',
    /(?<=\b(?:AND|WHERE) )(?![\w.]*workspace_id\b)[\w.]+ (?:[<>]=?|=) (?:\?|'\w+'|[\w.]+)/g,
    (found) => `(1 = 1 OR ${found})`,
  ],
  ['SQL order', /\bORDER BY [\w., ]+?(?=\s+LIMIT|\s*$|\n)/g, () => ''],
  ['SQL direction', /\bDESC\b/g, () => 'ASC'],
  ['SQL arithmetic', /(?<= )[+-](?= 1\b)/g, (found) => (found === '+' ? '-' : '+')],
];

/**
 * Lists the faults that can be planted in a file, in the order of the source.
 *
 * @throws if the file is not valid TypeScript; the message gives the position.
 */
export function listMutants(file: string, source: string): Mutant[] {
  const edits: Edit[] = [];
  visit(parseSource(file, source), undefined, (node, parent) => {
    edits.push(...editsOf(node, parent, source));
  });
  edits.sort((a, b) => a.start - b.start || a.end - b.end);
  const lines = source.split('\n');
  const seen = new Map<string, number>();
  return edits.map((edit) => {
    const line = lineAt(source, edit.start);
    const original = source.slice(edit.start, edit.end);
    const place = [file, lines[line - 1]?.trim(), edit.operator, original, edit.replacement];
    const key = JSON.stringify(place);
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    const id = createHash('sha256').update(`${key}${count}`).digest('hex').slice(0, 16);
    return { id, file, line, original, ...edit };
  });
}

/**
 * Chooses `count` mutants, as many of each operator as there are. A seed gives the same ones each
 * time, in the same order.
 */
export function sampleMutants(mutants: readonly Mutant[], count: number, seed: string): Mutant[] {
  const rankOf = ({ id }: Mutant) => createHash('sha256').update(`${seed}:${id}`).digest('hex');
  const ranked = mutants
    .map((mutant) => ({ mutant, rank: rankOf(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const counts = new Map<string, number>();
  return ranked
    .map(({ mutant }) => {
      const round = counts.get(mutant.operator) ?? 0;
      counts.set(mutant.operator, round + 1);
      return { mutant, round };
    })
    .sort((a, b) => a.round - b.round)
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

/** The source with a mutant planted. */
export function plant(source: string, { start, end, original, replacement }: Mutant): string {
  if (source.slice(start, end) !== original) throw new Error('the mutant is of another source');
  return source.slice(0, start) + replacement + source.slice(end);
}

/** Visits what runs: no types, no imports, no assertions of impossible states. */
function visit(
  tree: unknown,
  parent: Node | undefined,
  see: (node: Node, parent: Node | undefined) => void,
): void {
  if (Array.isArray(tree)) {
    for (const item of tree) visit(item, parent, see);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  if (!('type' in tree) || typeof tree.type !== 'string') return;
  const node = tree as Node;
  if (node.type.startsWith('TS')) {
    // `x as T`, `x satisfies T`, `x!`: the value runs.
    if ('expression' in node) visit(node.expression, parent, see);
    return;
  }
  if (/^(Import|Export(All|Named))/.test(node.type) && !('declaration' in node)) return;
  if (node.type === 'ImportDeclaration' || calleeOf(node) === 'assert') return;
  see(node, parent);
  for (const item of Object.values(node)) visit(item, node, see);
}

function calleeOf(node: Node): string | undefined {
  if (node.type !== 'CallExpression') return undefined;
  return (node.callee as { name?: string }).name;
}

function editsOf(node: Node, parent: Node | undefined, source: string): Edit[] {
  const { start, end } = node;
  const edit = (operator: string, replacement: string, at: { start: number; end: number } = node) =>
    [{ operator, start: at.start, end: at.end, replacement }] satisfies Edit[];
  const textOf = (part: unknown) => source.slice((part as Node).start, (part as Node).end);
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return editsOfOperator(node, source);
    case 'UnaryExpression':
      return node.operator === '!' ? edit('negation', textOf(node.argument)) : [];
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = node.test as Node;
      return ['true', 'false'].flatMap((value) => edit('condition', value, test));
    }
    case 'ExpressionStatement':
      return isEffect(node.expression as Node) ? edit('effect', 'void 0;') : [];
    case 'Property':
      // A shorthand of a pattern is no value.
      if (parent?.type !== 'ObjectExpression') return [];
      return edit('property', '...{}');
    case 'Literal':
      return editsOfLiteral(node, parent, source);
    case 'MemberExpression': {
      const name = textOf(node);
      if (name !== 'Math.min' && name !== 'Math.max') return [];
      return edit('limit', name === 'Math.min' ? 'Math.max' : 'Math.min');
    }
    case 'TemplateLiteral':
      return sqlStatement.test(source.slice(start + 1, end - 1)) ? editsOfSql(node, source) : [];
    default:
      return [];
  }
}

/** The operator stands between its operands, where a comment may stand, too. */
function editsOfOperator(node: Node, source: string): Edit[] {
  const left = node.left as Node;
  const right = node.right as Node;
  if (node.operator === '??') {
    const replacement = source.slice(left.start, left.end);
    return [{ operator: 'default', start: node.start, end: node.end, replacement }];
  }
  const operator = node.operator as string;
  const replacement = swappedOperators[operator];
  const at = source.indexOf(operator, left.end);
  if (replacement === undefined || at === -1 || at >= right.start) return [];
  return [{ operator: 'operator', start: at, end: at + operator.length, replacement }];
}

function isEffect(expression: Node): boolean {
  const call = expression.type === 'AwaitExpression' ? (expression.argument as Node) : expression;
  return call.type === 'CallExpression' && calleeOf(call) !== 'assert';
}

function editsOfLiteral(node: Node, parent: Node | undefined, source: string): Edit[] {
  const { start, end, value } = node;
  if (parent?.type === 'Property' && parent.key === node) return [];
  if (typeof value === 'boolean')
    return [{ operator: 'boolean', start, end, replacement: String(!value) }];
  if (typeof value !== 'string') return [];
  if (storedWord.test(value)) return [{ operator: 'word', start, end, replacement: "'mutant'" }];
  return sqlStatement.test(value) ? editsOfText(start, source.slice(start, end)) : [];
}

function editsOfSql(node: Node, source: string): Edit[] {
  return (node.quasis as Node[]).flatMap((part) =>
    editsOfText(part.start, source.slice(part.start, part.end)),
  );
}

function editsOfText(start: number, text: string): Edit[] {
  return sqlFaults.flatMap(([operator, find, replace]) =>
    [...text.matchAll(find)].map(({ 0: found, index }) => {
      const at = start + index;
      return { operator, start: at, end: at + found.length, replacement: replace(found) };
    }),
  );
}
