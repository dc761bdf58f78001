import { type IdKind, idPrefixes } from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';

/** Characters of an id and of a position that a list may append to it. */
const keyPattern = /^[\w:-]+$/;

/**
 * Decodes a cursor: the last id of a page, in base64url so that clients do not rely on its form.
 * Cursors are validated like any input (no NUL, for example), since their ids go into queries.
 *
 * @param kind of the ids that order the list: cursors of other lists are refused.
 * @throws HubError INVALID_REQUEST for a string that is no cursor of such a list.
 */
export function decodeCursor(cursor: string | undefined, kind: IdKind): string | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  const isOfList = key.startsWith(`${idPrefixes[kind]}_`) && keyPattern.test(key);
  if (!isOfList || encodeCursor(key) !== cursor) {
    throw invalidField('/cursor', 'must be a nextCursor of this list');
  }
  return key;
}

const seqCursorPattern = /^seq_([1-9]\d{0,15})$/;

/** The key for `pageOf` of a list that is ordered by a sequence number. */
export function seqCursorKey(seq: number): string {
  return `seq_${seq}`;
}

/**
 * Decodes a cursor of a list that is ordered by a sequence number.
 * @throws HubError INVALID_REQUEST for a string that is no cursor of such a list.
 */
export function decodeSeqCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, digits] = seqCursorPattern.exec(key) ?? [];
  if (digits === undefined || encodeCursor(key) !== cursor) {
    throw invalidField('/cursor', 'must be a nextCursor of this list');
  }
  return Number(digits);
}

export function encodeCursor(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url');
}

/** A page ends after this many bytes of rows, with a cursor, however many rows were asked for. */
export const PAGE_BYTES_MAX = 1_000_000;
/** Rows of the first piece of a page. Later pieces depend on how long the first rows are. */
const FIRST_PIECE_ROWS = 2;
/** A piece is read in one go, which must not keep other requests waiting. */
const PIECE_BYTES_MAX = 250_000;
/** Times as many rows as so far that a piece may have: long rows may follow short ones. */
const PIECE_GROWTH = 4;

export interface Page<Row> {
  items: Row[];
  nextCursor: string | null;
}

/**
 * Makes a page of at most `limit` rows and about `PAGE_BYTES_MAX`; the first row is always part of
 * it. The query asked for one row more, to see if there are more.
 */
export function pageOf<Row extends object>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => string,
): Page<Row> {
  const items: Row[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    bytes += sizeOf(row);
    if (bytes > PAGE_BYTES_MAX && items.length > 0) break;
    items.push(row);
  }
  const last = items.at(-1);
  const more = rows.length > items.length && last !== undefined;
  return { items, nextCursor: more ? encodeCursor(keyOf(last)) : null };
}

/**
 * Reads a page in pieces, so that a page of long rows is never in memory whole.
 *
 * @param list reads the rows before a key: `limit` of them, and one more if there is one.
 */
export async function readPage<Row extends object>(
  { limit, before }: { limit: number; before: string | null },
  list: (page: { limit: number; before: string | null }) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): Promise<Page<Row>> {
  const rows: Row[] = [];
  const pieces = new PieceSizes(limit);
  for (;;) {
    const count = pieces.next();
    const last = rows.at(-1);
    const piece = await list({ limit: count, before: last === undefined ? before : keyOf(last) });
    for (const row of piece) {
      rows.push(row);
      pieces.add(row);
    }
    const isEnd = piece.length <= count || rows.length > limit;
    if (isEnd || (pieces.areFull && rows.length > 1)) return pageOf(rows, limit, keyOf);
  }
}

/**
 * Reads rows by their keys in pieces, until they have about `PAGE_BYTES_MAX`.
 *
 * @param read rows of some keys, in any order; a missing row is left out.
 * @returns the rows in the order of the keys, and how many keys they are for: at least one.
 */
export async function readByKeys<Row extends object>(
  keys: readonly string[],
  read: (keys: readonly string[]) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): Promise<{ rows: Row[]; keysRead: number }> {
  const found = new Map<string, Row>();
  const pieces = new PieceSizes(keys.length);
  for (let at = 0; at < keys.length && !pieces.areFull; ) {
    const piece = keys.slice(at, at + pieces.next());
    at += piece.length;
    for (const row of await read(piece)) {
      found.set(keyOf(row), row);
      pieces.add(row);
    }
  }
  const rows: Row[] = [];
  let bytes = 0;
  for (const [at, key] of keys.entries()) {
    const row = found.get(key);
    bytes += row === undefined ? 0 : sizeOf(row);
    if (bytes > PAGE_BYTES_MAX && rows.length > 0) return { rows, keysRead: at };
    if (row !== undefined) rows.push(row);
  }
  return { rows, keysRead: keys.length };
}

/** Chooses how many rows to read next, by the size of those that were read. */
export class PieceSizes {
  readonly #rowsMax: number;
  #rows = 0;
  #bytes = 0;

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
  }

  /** Whether the rows fill a page. */
  get areFull(): boolean {
    return this.#bytes > PAGE_BYTES_MAX;
  }

  add(row: object): void {
    this.#rows += 1;
    this.#bytes += sizeOf(row);
  }

  next(): number {
    const rowsLeft = Math.max(1, this.#rowsMax - this.#rows);
    if (this.#rows === 0) return Math.min(rowsLeft, FIRST_PIECE_ROWS);
    const averageBytes = this.#bytes / this.#rows;
    const bytes = Math.min(PAGE_BYTES_MAX - this.#bytes, PIECE_BYTES_MAX);
    const fitting = Math.ceil(bytes / averageBytes);
    return Math.min(rowsLeft, Math.max(1, fitting), PIECE_GROWTH * this.#rows);
  }
}

/** About as many bytes as the row has in an answer. */
function sizeOf(row: object): number {
  let bytes = 0;
  for (const value of Object.values(row)) {
    if (typeof value === 'string') bytes += value.length;
    else if (typeof value === 'object' && value !== null) bytes += JSON.stringify(value).length;
    else bytes += 1;
  }
  return bytes;
}
