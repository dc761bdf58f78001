/** What the quoted form of a name cannot hold: everything but plain ASCII without `"`, `\`, `%`. */
const UNSAFE_IN_QUOTES = /[^\x20-\x7e]|["\\%]/gu;
/** What `encodeURIComponent` leaves and RFC 8187 does not allow. */
const UNSAFE_IN_VALUE = /['()*]/g;

/**
 * The `Content-Disposition` of a download (RFC 6266): saved, not shown, under its own name; the
 * quoted form is for clients that do not know the other (RFC 8187).
 */
export function attachmentOf(fileName: string): string {
  const quoted = fileName.replace(UNSAFE_IN_QUOTES, '_');
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    UNSAFE_IN_VALUE,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${quoted}"; filename*=UTF-8''${encoded}`;
}
