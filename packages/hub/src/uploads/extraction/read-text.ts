import { ExtractError } from './extract-outcome.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes text of unknown encoding: by its byte order mark, else as UTF-8, else as Windows-1252, in
 * which every byte is valid.
 *
 * @throws ExtractError wrong_content_type for bytes that are not text.
 */
export function decodeText(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.includes(0)) throw new ExtractError('wrong_content_type');
  try {
    return utf8.decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
