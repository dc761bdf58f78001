import { type IdKind, idPrefixes } from '@signalbox/contract';
import { invalidField } from '../errors.ts';

/** An id, and what a list may put behind it. */
const keyPattern = /^[\w:-]+$/;

/**
 * A cursor is the last id of a page, in base64url so that nobody builds on its form. What no JSON
 * may bring, such as NUL, it does not bring either: what it says is looked for in the database.
 *
 * @param kind of the ids that the list is ordered by: the cursor of another list is none here.
 * @throws HubError INVALID_REQUEST for a string that no hub made for such a list.
 */
export function decodeCursor(cursor: string | undefined, kind: IdKind): string | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  const isOfList = key.startsWith(`${idPrefixes[kind]}_`) && keyPattern.test(key);
  if (!isOfList || encodeCursor(key) !== cursor) {
    throw invalidField('/cursor', 'is not a nextCursor of this list');
  }
  return key;
}

const seqCursorPattern = /^seq_([1-9]\d{0,15})$/;

/** What a list that is ordered by a running number hands to `pageOf`. */
export function seqCursorKey(seq: number): string {
  return `seq_${seq}`;
}

/** @throws HubError INVALID_REQUEST for a string that no hub made for such a list. */
export function decodeSeqCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, digits] = seqCursorPattern.exec(key) ?? [];
  if (digits === undefined || encodeCursor(key) !== cursor) {
    throw invalidField('/cursor', 'is not a nextCursor of this list');
  }
  return Number(digits);
}

export function encodeCursor(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url');
}

/** Cuts a page off rows of which one more than `limit` was asked for. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => string,
): { items: Row[]; nextCursor: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? encodeCursor(keyOf(last)) : null };
}
