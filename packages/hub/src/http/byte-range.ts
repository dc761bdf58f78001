/** Bytes of a body, both ends included. */
export interface ByteRange {
  first: number;
  last: number;
}

const SINGLE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Which bytes a `Range` header asks for (RFC 9110, section 14).
 *
 * @returns null: all of them, since the header is absent, is none, or asks for several ranges,
 * which a server may answer whole; `unsatisfiable`: none of these bytes exist.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | null {
  const [, from = '', to = ''] = SINGLE_RANGE.exec(header ?? '') ?? [];
  if (from === '' && to === '') return null;
  if (from === '') {
    const lengthBytes = Math.min(Number(to), sizeBytes);
    if (lengthBytes === 0) return 'unsatisfiable';
    return { first: sizeBytes - lengthBytes, last: sizeBytes - 1 };
  }
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  if (last < first) return null;
  if (first >= sizeBytes) return 'unsatisfiable';
  return { first, last: Math.min(last, sizeBytes - 1) };
}

/**
 * Whether `If-Range` lets the range stand: the client's part must be of these very bytes. A date or
 * a weak tag never is, since they are not exact.
 */
export function allowsRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}
