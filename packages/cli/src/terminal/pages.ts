import { LIST_LIMIT_MAX } from '@signalbox/contract';

export interface Page<Row> {
  rows: Row[];
  /** Null: this was the last page. */
  nextCursor: string | null;
}

export interface PageRequest {
  limit: number;
  cursor?: string;
}

/** Reads page by page until `rowsMax` rows or the last page. */
export async function collectPages<Row>(
  rowsMax: number,
  read: (page: PageRequest) => Promise<Page<Row>>,
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
