import { extractRawText } from 'mammoth';
import { checkArchive } from './check-zip.ts';
import type { ReadText } from './extract-outcome.ts';

/** @throws ExtractError wrong_content_type, too_large, malformed. */
export async function readDocx(bytes: Buffer): Promise<ReadText> {
  // The parser inflates whatever it is given: a small file could become all memory there is.
  checkArchive(bytes, 'word/document.xml');
  const { value } = await extractRawText({ buffer: bytes });
  return { text: value, truncated: false };
}
