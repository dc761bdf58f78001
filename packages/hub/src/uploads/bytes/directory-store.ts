import { createHash, randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { access, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { HubError } from '../../errors.ts';
import type { ByteStore } from './byte-store.ts';
import { takeBytes } from './check-bytes.ts';

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIRECTORY = 0o700;
/** What a disk that takes no more says: space, quota, the limit of one file, or worse. */
const diskTroubles = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']);
const INCOMING = 'incoming';
const OBJECTS = 'objects';

/**
 * Keeps objects as files under a directory: `incoming/` while they arrive, then
 * `objects/ab/cd/<key>`, sharded by the key's hash so that no directory grows large. One hub owns
 * the directory, as it owns the data directory it lies in.
 *
 * @param placeOf the directory of a key within the root, when people are to find their way there.
 */
export function createDirectoryStore(
  root: string,
  placeOf: (key: string) => string = shardOf,
): ByteStore {
  const incoming = join(root, INCOMING);
  const directoryOf = (key: string) => join(root, placeOf(key));
  const pathOf = (key: string) => join(directoryOf(key), key);
  return {
    signer: null,

    async put(key, source, expected) {
      await makeDurableDirectory(incoming);
      const draft = join(incoming, `${key}.${randomBytes(8).toString('hex')}`);
      const file = await open(draft, 'wx', OWNER_ONLY_FILE);
      try {
        const stored = await writeDurably(file, (write) => takeBytes(source, expected, write));
        const directory = directoryOf(key);
        await makeDurableDirectory(directory);
        await rename(draft, join(directory, key));
        await syncDirectory(directory);
        return stored;
      } catch (error) {
        await rm(draft, { force: true });
        throw explainDiskError(error);
      }
    },

    async read(key, range) {
      const file = await open(pathOf(key)).catch(nullIfMissing);
      if (file === null) return null;
      const bounds = range === null ? {} : { start: range.first, end: range.last };
      return file.createReadStream(bounds) satisfies Readable;
    },

    async delete(key) {
      await rm(pathOf(key), { force: true });
    },

    async withFile(key, use) {
      const path = pathOf(key);
      await access(path);
      return use(path);
    },

    async sweep() {
      const drafts = (await readdir(incoming).catch(nullIfMissing)) ?? [];
      for (const draft of drafts) await rm(join(incoming, draft), { force: true });
      return drafts.length;
    },
  };
}

function shardOf(key: string): string {
  const hash = createHash('sha256').update(key).digest('hex');
  return join(OBJECTS, hash.slice(0, 2), hash.slice(2, 4));
}

async function writeDurably<T>(
  file: FileHandle,
  fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<T> {
  try {
    const result = await fill((piece) => writeWhole(file, piece));
    await file.sync();
    return result;
  } finally {
    await file.close();
  }
}

/** A write near the end of the space may take only a part; the next one then says why. */
async function writeWhole(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    const { bytesWritten } = await file.write(piece, at);
    at += bytesWritten;
  }
}

/** Makes a directory that survives a power cut: each new one is synced into its parent. */
async function makeDurableDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  if (first === undefined) return;
  for (let at = path; at.length >= first.length; at = join(at, '..')) {
    await syncDirectory(join(at, '..'));
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** A full disk is nothing the client did; it may try again once there is room. */
function explainDiskError(error: unknown): unknown {
  if (!diskTroubles.has((error as NodeJS.ErrnoException).code ?? '')) return error;
  return new HubError('UNAVAILABLE', 'The hub cannot store the bytes now: try again later.', {
    cause: error,
  });
}
