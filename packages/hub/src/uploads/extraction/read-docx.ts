import { inflateRawSync } from 'node:zlib';
import { extractRawText } from 'mammoth';
import { ExtractError, type ReadText } from './extract-outcome.ts';

/** Limit of all unpacked entries together. A document of a thousand pages takes a tenth of it. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
const ENTRIES_MAX = 5_000;

/* Records of a ZIP file (APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). */
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const CENTRAL_SIGNATURE = 0x02014b50;
const CENTRAL_BYTES = 46;
const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const ZIP64_LOCATOR_SIGNATURE = 0x07064b50;
const ZIP64_LOCATOR_BYTES = 20;
const COMMENT_BYTES_MAX = 0xffff;

const METHOD_STORED = 0;
const METHOD_DEFLATED = 8;

interface ZipEntry {
  name: string;
  method: number;
  packedBytes: number;
  localOffset: number;
}

/** @throws ExtractError wrong_content_type, too_large, malformed. */
export async function readDocx(bytes: Buffer): Promise<ReadText> {
  // The parser unpacks without a limit, so a small hostile file could use up all memory.
  checkZip(bytes, 'word/document.xml');
  const { value } = await extractRawText({ buffer: bytes });
  return { text: value, truncated: false };
}

/**
 * Unpacks a ZIP file once with a limit, before the parser unpacks it without one. The sizes that
 * the file states are not trusted.
 *
 * @param required an entry that must exist, or the file has another format.
 * @throws ExtractError wrong_content_type, too_large, malformed.
 */
function checkZip(bytes: Buffer, required: string): void {
  if (bytes.length < END_BYTES || bytes.readUInt32LE(0) !== LOCAL_SIGNATURE) {
    throw new ExtractError('wrong_content_type');
  }
  const entries = readEntries(bytes);
  if (!entries.some(({ name }) => name === required)) throw new ExtractError('wrong_content_type');
  let left = UNPACKED_BYTES_MAX;
  for (const entry of entries) {
    left -= unpackedBytes(bytes, entry, left);
    if (left < 0) throw new ExtractError('too_large');
  }
}

function readEntries(bytes: Buffer): ZipEntry[] {
  const end = findEnd(bytes);
  requireSingleDisk(bytes, end);
  const count = bytes.readUInt16LE(end + 10);
  if (count > ENTRIES_MAX) throw new ExtractError('too_large');
  const entries: ZipEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_BYTES > end || bytes.readUInt32LE(at) !== CENTRAL_SIGNATURE) {
      throw new ExtractError('malformed');
    }
    const nameBytes = bytes.readUInt16LE(at + 28);
    entries.push({
      name: bytes.toString('utf8', at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameBytes),
      method: bytes.readUInt16LE(at + 10),
      packedBytes: bytes.readUInt32LE(at + 20),
      localOffset: bytes.readUInt32LE(at + 42),
    });
    at += CENTRAL_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  // A parser that searches for signatures would also unpack entries beyond the stated count.
  if (at !== end) throw new ExtractError('malformed');
  return entries;
}

/**
 * Refuses archives of several disks and ZIP64 (APPNOTE.TXT 4.3.14 to 4.4.1.4). A parser that sees
 * one of its marks reads another directory than this check.
 */
function requireSingleDisk(bytes: Buffer, end: number): void {
  const [disk, directoryDisk] = [bytes.readUInt16LE(end + 4), bytes.readUInt16LE(end + 6)];
  const [ownCount, count] = [bytes.readUInt16LE(end + 8), bytes.readUInt16LE(end + 10)];
  const [size, offset] = [bytes.readUInt32LE(end + 12), bytes.readUInt32LE(end + 16)];
  const locator = end - ZIP64_LOCATOR_BYTES;
  const hasLocator = locator >= 0 && bytes.readUInt32LE(locator) === ZIP64_LOCATOR_SIGNATURE;
  const isPlain = disk === 0 && directoryDisk === 0 && ownCount === count && !hasLocator;
  if (!isPlain || offset + size !== end) throw new ExtractError('malformed');
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES_MAX);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END_SIGNATURE) return at;
  }
  throw new ExtractError('malformed');
}

function unpackedBytes(bytes: Buffer, entry: ZipEntry, bytesMax: number): number {
  const { method, packedBytes, localOffset } = entry;
  if (localOffset + LOCAL_BYTES > bytes.length) throw new ExtractError('malformed');
  const nameBytes = bytes.readUInt16LE(localOffset + 26);
  const extraBytes = bytes.readUInt16LE(localOffset + 28);
  const start = localOffset + LOCAL_BYTES + nameBytes + extraBytes;
  if (start + packedBytes > bytes.length) throw new ExtractError('malformed');
  if (method === METHOD_STORED) return packedBytes;
  if (method !== METHOD_DEFLATED) throw new ExtractError('malformed');
  const packed = bytes.subarray(start, start + packedBytes);
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(bytesMax, 1) }).length;
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new ExtractError(isTooLarge ? 'too_large' : 'malformed');
  }
}
