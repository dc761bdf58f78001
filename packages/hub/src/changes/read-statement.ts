import type { SqlValue } from '../db/engine.ts';

/** The row that a statement writes, as far as its text and its values tell. */
export interface WrittenRow {
  workspaceId: string | null;
  /** Null: unknown, or several rows. */
  id: string | null;
  /** The columns that are set; empty for a deletion. */
  columns: readonly string[];
  /** The value that a column gets; undefined: the statement does not tell. */
  valueIn(column: string): SqlValue | undefined;
}

/** A statement that writes: its table, and which of its values belong to which column. */
export interface WritingStatement {
  table: string;
  verb: 'insert' | 'update' | 'delete';
  columns: readonly string[];
  /** The index of the value that a column gets. */
  set: ReadonlyMap<string, number>;
  /** The index of the value that selects rows by a column, or is inserted into it. */
  where: ReadonlyMap<string, number>;
}

const headPattern = /\b(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+"?(\w+)"?/gi;
const verbs = { i: 'insert', u: 'update', d: 'delete' } as const;

/**
 * Reads a statement of this hub, in the SQL that it writes itself: `?` or `$1` for values, and each
 * value bound to one column. Null: it writes none of the tables.
 */
export function readStatement(
  sql: string,
  isWatched: (table: string) => boolean,
): WritingStatement | null {
  for (const head of sql.matchAll(headPattern)) {
    const [text, verb = '', table = ''] = head;
    if (!isWatched(table)) continue;
    const rest = head.index + text.length;
    switch (verbs[verb.charAt(0).toLowerCase() as keyof typeof verbs]) {
      case 'insert':
        return readInsert(sql, table, rest);
      case 'update':
        return readUpdate(sql, table, rest);
      case 'delete': {
        const where = readConditions(sql, rest);
        return { table, verb: 'delete', columns: [], set: new Map(), where };
      }
    }
  }
  return null;
}

function readInsert(sql: string, table: string, at: number): WritingStatement {
  const open = sql.indexOf('(', at);
  const columns = splitList(sql, open).map(({ text }) => nameOf(text));
  const values = /\bVALUES\s*/iy;
  values.lastIndex = skipSpace(sql, closingOf(sql, open) + 1);
  const set = new Map<string, number>();
  if (values.test(sql)) {
    const parts = splitList(sql, values.lastIndex);
    const end = skipSpace(sql, closingOf(sql, values.lastIndex) + 1);
    const isOneRow = sql.charAt(end) !== ',';
    parts.forEach(({ text, at: start }, index) => {
      const column = columns[index];
      const isKnown = isOneRow || column === 'workspace_id';
      if (column === undefined || !isKnown || !/^(\?|\$\d+)$/.test(text)) return;
      set.set(column, valueIndexAt(sql, start, text));
    });
  }
  // Ids within an expression select the row that the new one refers to by its key.
  const selecting = [...readConditions(sql, open)].filter(([column]) => column.endsWith('_id'));
  const where = new Map([...selecting, ...set]);
  return { table, verb: 'insert', columns, set, where };
}

function readUpdate(sql: string, table: string, at: number): WritingStatement {
  const setAt = /\bSET\b/gi;
  setAt.lastIndex = at;
  setAt.test(sql);
  const whereAt = topLevelIndexOf(sql, ' WHERE ', setAt.lastIndex);
  const end = whereAt === -1 ? sql.length : whereAt;
  const set = new Map<string, number>();
  const columns: string[] = [];
  for (const { text, at: start } of splitTop(sql, setAt.lastIndex, end)) {
    const [assignment, name = '', value = ''] = /^\s*"?(\w+)"?\s*=\s*(\?|\$\d+)?/.exec(text) ?? [];
    if (assignment === undefined) continue;
    columns.push(name);
    const valueAt = start + assignment.length - value.length;
    if (value !== '') set.set(name, valueIndexAt(sql, valueAt, value));
  }
  return { table, verb: 'update', columns, set, where: readConditions(sql, end) };
}

/** The first `column = ?` of each column after a place. */
function readConditions(sql: string, from: number): Map<string, number> {
  const where = new Map<string, number>();
  const pattern = /(?:^|[\s(.])"?(\w+)"?\s*=\s*(\?|\$\d+)/g;
  pattern.lastIndex = from;
  for (let match = pattern.exec(sql); match !== null; match = pattern.exec(sql)) {
    const [text, column = '', value = ''] = match;
    const valueAt = match.index + text.length - value.length;
    if (!where.has(column)) where.set(column, valueIndexAt(sql, valueAt, value));
  }
  return where;
}

/** The index of the value of a placeholder at a place. */
function valueIndexAt(sql: string, at: number, placeholder: string): number {
  if (placeholder.startsWith('$')) return Number(placeholder.slice(1)) - 1;
  let index = 0;
  for (let place = sql.indexOf('?'); place !== -1 && place < at; ) {
    index += 1;
    place = sql.indexOf('?', place + 1);
  }
  return index;
}

interface Part {
  text: string;
  at: number;
}

/** The parts of a list in parentheses that begins at a place. */
function splitList(sql: string, open: number): Part[] {
  return splitTop(sql, open + 1, closingOf(sql, open));
}

/** The parts between commas that are within no further parentheses. */
function splitTop(sql: string, from: number, end: number): Part[] {
  const parts: Part[] = [];
  let depth = 0;
  let start = from;
  const push = (until: number) => {
    const text = sql.slice(start, until);
    parts.push({ text: text.trim(), at: start + text.length - text.trimStart().length });
  };
  for (let at = from; at < end; at += 1) {
    const char = sql.charAt(at);
    if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === ',' && depth === 0) {
      push(at);
      start = at + 1;
    }
  }
  push(end);
  return parts;
}

function closingOf(sql: string, open: number): number {
  let depth = 0;
  for (let at = open; at < sql.length; at += 1) {
    if (sql.charAt(at) === '(') depth += 1;
    if (sql.charAt(at) === ')' && --depth === 0) return at;
  }
  return sql.length;
}

function topLevelIndexOf(sql: string, word: string, from: number): number {
  const text = sql.replace(/\s/g, ' ').toUpperCase();
  for (let at = text.indexOf(word, from); at !== -1; at = text.indexOf(word, at + 1)) {
    const before = sql.slice(from, at);
    const depth = before.split('(').length - before.split(')').length;
    if (depth === 0) return at;
  }
  return -1;
}

function skipSpace(sql: string, at: number): number {
  let place = at;
  while (/\s/.test(sql.charAt(place))) place += 1;
  return place;
}

function nameOf(text: string): string {
  return text.replaceAll('"', '');
}
