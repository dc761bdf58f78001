import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAst } from 'rolldown/parseAst';
import { readStatement } from '../../src/changes/read-statement.ts';
import { watchedTables } from '../../src/changes/watched-tables.ts';

const sourceDir = join(import.meta.dirname, '../../src');
const isWatched = (table: string) => Object.hasOwn(watchedTables, table);

/** A verb that writes, then words only, then a watched table: any shape of SQL, known or not. */
const names = Object.keys(watchedTables).join('|');
const writePattern = new RegExp(
  `\\b(?:INSERT|REPLACE|MERGE|UPDATE|DELETE)\\s[\\w\\s."]*?\\b(${names})\\b`,
  'gi',
);
/** In place of what a text is completed with. */
const PART = ' PART ';

/** Statements on rows of all workspaces: their changes are announced to every workspace. */
const ofAllWorkspaces = [
  'UPDATE queue_entries SET lease_expires_at',
  'UPDATE integration_events SET title = NULL',
  'UPDATE upload_extracts SET attempts = attempts + 1',
  'DELETE FROM trigger_firings WHERE (workspace_id, cause',
  "DELETE FROM uploads WHERE status = 'pending' AND",
  // A restore, which no hub runs beside.
  'UPDATE agents SET principal_id = ? || principal_id',
  'INSERT INTO job_events (job_key, seq, kind, at, attempt, agent_id, message, data) SELECT j.job_key',
  'UPDATE invitations SET revoked_at = ? WHERE accepted_at IS NULL AND revoked_at IS NULL',
  'UPDATE queue_entries SET epoch',
  'UPDATE workspaces SET queue_paused_at = ?, queue_paused_by = ?, queue_pause_reason = ? ' +
    'WHERE queue_paused_at IS NULL',
];

/** A node of the syntax tree (ESTree with types). */
interface TextNode {
  readonly start: number;
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

function visitNodes(tree: unknown, see: (node: TextNode) => void): void {
  if (typeof tree !== 'object' || tree === null) return;
  if ('type' in tree && 'start' in tree) see(tree as TextNode);
  for (const item of Object.values(tree)) visitNodes(item, see);
}

/** Why the changes of a text of SQL could be missed; undefined if they cannot. */
function faultOf(sql: string): string | undefined {
  const written = [...sql.matchAll(writePattern)].map(([, table]) => table);
  if (written.length === 0) return undefined;
  if (written.length > 1) return `writes ${written.join(' and ')} at once`;
  const statement = readStatement(sql, isWatched);
  if (statement === null || statement.table !== written[0])
    return `writes ${written[0]}, which is not recognized`;
  const { verb, columns, where } = statement;
  // Texts with parts are completed with lists of columns and conditions.
  const hasParts = sql.includes(PART);
  if (verb !== 'delete' && columns.length === 0 && !hasParts) return 'has no columns';
  if (where.has('workspace_id') || hasParts) return undefined;
  const text = sql.trim().replace(/\s+/g, ' ');
  if (ofAllWorkspaces.some((beginning) => text.startsWith(beginning))) return undefined;
  return 'does not tell its workspace';
}

test('every statement that writes a watched table is understood', () => {
  const faults: string[] = [];
  let statements = 0;
  for (const file of readdirSync(sourceDir, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.includes('migrations')) continue;
    const source = readFileSync(join(sourceDir, file), 'utf8');
    const place = ({ start }: TextNode) => `${file}:${source.slice(0, start).split('\n').length}`;
    const judge = (node: TextNode, sql: string) => {
      if (sql.match(writePattern) === null) return;
      statements += 1;
      const fault = faultOf(sql);
      if (fault !== undefined) faults.push(`${place(node)} ${fault}`);
    };
    visitNodes(parseAst(source, { lang: 'ts' }, file), (node) => {
      if (node.type === 'Literal' && typeof node.value === 'string') judge(node, node.value);
      if (node.type === 'TemplateLiteral') {
        judge(node, node.quasis?.map(({ value }) => value.raw).join(PART) ?? '');
      }
    });
  }
  assert.deepEqual(faults, []);
  assert.ok(statements > 30, `${statements} statements`);
});

test('a new shape of statement is found', () => {
  assert.match(faultOf('INSERT OR IGNORE INTO jobs (job_id) VALUES (?)') ?? '', /not recognized/);
  assert.match(faultOf('UPDATE ONLY jobs SET title = ?') ?? '', /not recognized/);
  assert.match(faultOf('UPDATE jobs SET title = ? WHERE job_id = ?') ?? '', /its workspace/);
  assert.match(
    faultOf('WITH a AS (DELETE FROM runs RETURNING *) UPDATE jobs SET title = ?') ?? '',
    /runs and jobs at once/,
  );
  const known = 'UPDATE jobs SET title = ? WHERE workspace_id = ? AND job_id = ?';
  assert.equal(faultOf(known), undefined);
});
