// docs/JOB_STATES.md shows the transitions that packages/hub/src/queue/states.ts allows. Changes to
// one require changes to the other.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorCodes, jobStatuses } from '@signalbox/contract';
import { parseSource, type SyntaxNode, visitNodes } from '../source-syntax.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/JOB_STATES.md'), 'utf8');
const source = readFileSync(join(root, 'packages/hub/src/queue/states.ts'), 'utf8');
const bounds = '[*]';

test('the diagram shows exactly the transitions of the code', () => {
  const drawn = readDiagram().filter((move) => !move.includes(bounds));
  assert.deepEqual(drawn, readMovesOfCode());
});

test('the table of transitions has exactly one row for each transition of the code', () => {
  const rows = readTable('<!-- moves -->').map(([from, to, cause]) => `${from} → ${to}: ${cause}`);
  assert.deepEqual(rows.map(withoutTicks).sort(), readMovesOfCode());
});

test('the diagram begins with pending and ends at the final statuses of the code', () => {
  const moves = readMovesOfCode();
  const final = jobStatuses.filter(
    (status) => !moves.some((move) => move.startsWith(`${status} `)),
  );
  const ends = readDiagram().filter((move) => move.includes(bounds));
  const expected = [`${bounds} → pending: enqueue`, ...final.map((each) => `${each} → ${bounds}`)];
  assert.deepEqual(ends, expected.sort());
});

test('the fence table has a row for each status and contains every code of the fence', () => {
  const rows = readTable('<!-- fence -->').map((cells) => cells.map(withoutTicks));
  assert.deepEqual(rows.map(([status = '']) => status).sort(), [...jobStatuses].sort());
  const shown = new Set(
    rows.flatMap(([, ...answers]) => answers).filter((each) => each !== 'passes'),
  );
  const known = readCodesOfFence();
  assert.deepEqual([...shown, 'CLAIM_GENERATION_MISMATCH'].sort(), known);
});

test('every error code on the page exists in the contract', () => {
  const named = page.match(/`[A-Z]+(?:_[A-Z]+)+`/g) ?? [];
  const unknown = named.map(withoutTicks).filter((code) => !(code in errorCodes));
  assert.ok(named.length > 0, 'the page contains error codes');
  assert.deepEqual(unknown, []);
});

/** The transitions of the diagram as `from → to: cause`, sorted. */
function readDiagram(): string[] {
  const diagram = /```mermaid\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const moves = diagram.split('\n').flatMap((line) => {
    const [, from, to, causes] = /^\s*(\S+) --> ([^\s:]+)(?:: (.+))?$/.exec(line) ?? [];
    if (from === undefined) return [];
    if (causes === undefined) return [`${from} → ${to}`];
    return causes.split(', ').map((cause) => `${from} → ${to}: ${cause}`);
  });
  return moves.sort();
}

/** The rows of the table after a mark, without its head. */
function readTable(mark: string): string[][] {
  const [, after = ''] = page.split(`${mark}\n`);
  const table = after.split(/\n(?!\|)/)[0] ?? '';
  const rows = table.split('\n').map((line) => line.split('|').slice(1, -1));
  return rows.slice(2).map((cells) => cells.map((cell) => cell.trim()));
}

function withoutTicks(text: string): string {
  return text.replaceAll('`', '');
}

interface Literal extends SyntaxNode {
  readonly value: string;
}

interface ObjectNode extends SyntaxNode {
  readonly properties: readonly { key: { name: string }; value: SyntaxNode }[];
}

/** The table `moves` in the code. The package does not export it, so the source is parsed. */
function readMovesOfCode(): string[] {
  const found: string[] = [];
  visitNodes(parseSource('states.ts', source), (node) => {
    // The parser types nodes by their `type` only.
    const { id, init } = node as SyntaxNode & { id?: { name?: string }; init?: ObjectNode };
    if (node.type !== 'VariableDeclarator' || id?.name !== 'moves' || init === undefined) return;
    for (const from of init.properties) {
      for (const to of (from.value as ObjectNode).properties) {
        const { elements } = to.value as SyntaxNode & { elements: readonly Literal[] };
        for (const { value } of elements) found.push(`${from.key.name} → ${to.key.name}: ${value}`);
      }
    }
  });
  assert.ok(found.length > 0, 'states.ts contains the table `moves`');
  return found.sort();
}

/** The distinct error codes of states.ts. */
function readCodesOfFence(): string[] {
  const codes = new Set<string>();
  visitNodes(parseSource('states.ts', source), (node) => {
    const { callee, arguments: args } = node as SyntaxNode & {
      callee?: { name?: string };
      arguments?: readonly Literal[];
    };
    if (node.type !== 'NewExpression' || callee?.name !== 'HubError') return;
    codes.add(args?.[0]?.value ?? '');
  });
  return [...codes].sort();
}
