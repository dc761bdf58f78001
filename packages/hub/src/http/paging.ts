import { type IdKind, idPrefixes } from '@signalbox/contract';
import { invalidField } from '../errors.ts';

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

/** Makes a page of at most `limit` rows. The query asked for one more, to see if there are more. */
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
