import { Integer, Text } from '../schema.ts';

/** The maximum size of an upload: 100 MB. */
export const UPLOAD_BYTES_MAX = 100 * 1024 * 1024;

export const FileName = Text(255, {
  minLength: 1,
  // Other machines use it as a file name, so it must not have directories or control characters.
  pattern: '^[^/\\\\\\u0000-\\u001f\\u007f]+$',
  description: 'A file name without directories.',
});
/** A media type, as in the header Content-Type. */
export const ContentType = Text(255, {
  pattern: "^[A-Za-z0-9!#$&^_.+'-]+/[A-Za-z0-9!#$&^_.+'-]+(?:;[\\x20-\\x7e]*)?$",
  description: 'A media type, such as application/pdf.',
});
export const SizeBytes = Integer(0, UPLOAD_BYTES_MAX);
