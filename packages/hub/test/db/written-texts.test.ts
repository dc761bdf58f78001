import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAst } from 'rolldown/parseAst';

const sourceDir = join(import.meta.dirname, '../../src');

/** Where the engines write their own tables, and hubs talk to PostgreSQL without a transaction. */
const ofEngines = /^db\/|^cluster\/hub-heartbeat\.ts$/;
const writePattern =
  /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)(?=\s+(?:AS|SET|WHERE|\()|$)/g;

/** A node of the syntax tree (ESTree with types). */
interface CallNode {
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly callee?: { readonly property?: { readonly name?: string } };
  readonly arguments?: readonly CallNode[];
}

function visitNodes(tree: unknown, see: (node: CallNode) => void): void {
  if (typeof tree !== 'object' || tree === null) return;
  if ('type' in tree && 'start' in tree) see(tree as CallNode);
  for (const item of Object.values(tree)) visitNodes(item, see);
}

/** The tables that a source writes by texts without naming them in the call, and those it names. */
function readTexts(file: string, source: string): { untold: string[]; told: string[] } {
  const told: string[] = [];
  let rest = source;
  visitNodes(parseAst(source, { lang: 'ts' }, file), ({ type, callee, arguments: given }) => {
    if (type !== 'CallExpression' || callee?.property?.name !== 'runSql') return;
    const [text = '', , about = ''] = (given ?? []).map(({ start, end }) =>
      source.slice(start, end),
    );
    const tables = Array.from(text.matchAll(writePattern), ([, table]) => table);
    const named = /table: '(\w+)'/.exec(about)?.[1];
    if (named === undefined || tables.length !== 1 || tables[0] !== named) return;
    told.push(named);
    rest = rest.replace(text, '');
  });
  return {
    told,
    untold: Array.from(rest.matchAll(writePattern), ([, table]) => `${file} ${table}`),
  };
}

test('a text that writes a table names it in its call; all other writes are data', () => {
  const found = readdirSync(sourceDir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !ofEngines.test(file))
    .map((file) => readTexts(file, readFileSync(join(sourceDir, file), 'utf8')));
  assert.deepEqual(
    found.flatMap(({ untold }) => untold),
    [],
  );
  const told = found.flatMap(({ told: tables }) => tables);
  assert.ok(told.includes('job_events') && told.length < 15, told.join(', '));
});

test('a text without its table, or with another, is found', () => {
  const untold = (call: string) => readTexts('a.ts', call).untold;
  assert.deepEqual(untold("tx.runSql('DELETE FROM runs WHERE a = ?', [1]);"), ['a.ts runs']);
  const other = "tx.runSql('UPDATE runs SET a = ?', [1], { verb: 'update', table: 'jobs' });";
  assert.deepEqual(untold(other), ['a.ts runs']);
  assert.deepEqual(untold(other.replace("'jobs'", "'runs'")), []);
  assert.deepEqual(untold("tx.allSql('INSERT INTO runs (a) VALUES (?) RETURNING a', [1]);"), [
    'a.ts runs',
  ]);
});
