import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';

const PIECE_BYTES = 1_048_576;

/** The size and the hash of a file's content. */
export interface Content {
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
}

/** Reads a whole file. @throws if it does not exist or cannot be read. */
export async function hashFile(path: string): Promise<Content> {
  const file = await open(path, 'r');
  try {
    return await readPieces(file, async () => undefined);
  } finally {
    await file.close();
  }
}

/** Copies a file to a path that does not exist, for the owner only, and syncs it. */
export async function copyFile(source: string, target: string): Promise<Content> {
  const from = await open(source, 'r');
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const to = await open(target, 'wx', 0o600);
    try {
      const content = await readPieces(from, (piece) => writeWhole(to, piece));
      await to.sync();
      return content;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function readPieces(
  file: FileHandle,
  use: (piece: Uint8Array) => Promise<void>,
): Promise<Content> {
  const hash = createHash('sha256');
  const buffer = new Uint8Array(PIECE_BYTES);
  let sizeBytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES);
    if (bytesRead === 0) return { sizeBytes, sha256: hash.digest('hex') };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await use(piece);
    sizeBytes += bytesRead;
  }
}

/** A write to a nearly full disk may write only a part; the next write then fails. */
async function writeWhole(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    const { bytesWritten } = await file.write(piece, at);
    at += bytesWritten;
  }
}
