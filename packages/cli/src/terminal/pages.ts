import { LIST_LIMIT_MAX } from '@signalbox/contract';

export interface PageRequest {
  limit: number;
  cursor: string | undefined;
}

/**
 * Reads page by page until `rowsMax` rows or the last page, after which `nextCursor` is null.
 *
 * @param key the field of the answer that has the rows.
 */
export async function collectPages<
  Key extends string,
  Answer extends Record<Key, readonly unknown[]> & { nextCursor: string | null },
>(
  rowsMax: number,
  key: Key,
  read: (page: PageRequest) => Promise<Answer>,
): Promise<{ rows: Answer[Key][number][]; nextCursor: string | null; last: Answer }> {
  const rows: Answer[Key][number][] = [];
  let cursor: string | undefined;
  for (;;) {
    const last = await read({ limit: Math.min(LIST_LIMIT_MAX, rowsMax - rows.length), cursor });
    rows.push(...last[key]);
    const { nextCursor } = last;
    if (nextCursor === null || rows.length >= rowsMax) return { rows, nextCursor, last };
    cursor = nextCursor;
  }
}
