/** A range of bytes; both ends are included. */
export interface ByteRange {
  first: number;
  last: number;
}

const SINGLE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Parses a `Range` header (RFC 9110, section 14).
 *
 * @returns null: all bytes, because the header is absent, malformed or asks for several ranges, in
 *   which case a server may send everything; `unsatisfiable`: none of the bytes exist.
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
 * Whether `If-Range` allows a range: the client's tag must name exactly these bytes. A date or a
 * weak tag never does.
 */
export function allowsRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}
