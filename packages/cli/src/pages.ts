import { LIST_LIMIT_MAX } from '@signalbox/contract';

export interface Page<Row> {
  rows: Row[];
  /** Null: there are no more. */
  nextCursor: string | null;
}

/** Reads page by page until there are `rowsMax` rows or no more. */
export async function collectPages<Row>(
  rowsMax: number,
  read: (page: { limit: number; cursor?: string }) => Promise<Page<Row>>,
): Promise<Page<Row>> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(LIST_LIMIT_MAX, rowsMax - rows.length);
    const page: Page<Row> = await read({ limit, ...(cursor === null ? {} : { cursor }) });
    rows.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor !== null && rows.length < rowsMax);
  return { rows, nextCursor: cursor };
}
