import { createHash, randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { access, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { HubError } from '../../base/errors.ts';
import { FairTurns } from '../../base/fair-turns.ts';
import type { ByteStore, BytesExpected, BytesStored } from './byte-store.ts';
import { takeBytes } from './check-bytes.ts';
import { DraftFile, type FileTurn } from './draft-file.ts';

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIRECTORY = 0o700;
/** Errors of a disk that is full or failing: space, quota, file size, I/O, read-only. */
const diskErrorCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']);
const INCOMING = 'incoming';
const OBJECTS = 'objects';

/**
 * Stores objects as files in a directory: in `incoming/` while they arrive, then as
 * `objects/ab/cd/<key>`, sharded by the key's hash so that no directory grows large. One hub owns
 * the directory, like the data directory that contains it.
 *
 * Objects are written by one operation on files at a time. Each operation occupies one of the four
 * threads that the whole process has for files: with all four, uploads would delay the sync of the
 * database's log, and with it every write of the hub. Workspaces have their turns one after the
 * other.
 *
 * @param placeOf the directory of a key within the root, when people should find files there.
 */
export function createDirectoryStore(
  root: string,
  placeOf: (key: string) => string = shardOf,
): ByteStore {
  const incoming = join(root, INCOMING);
  const directoryOf = (key: string) => join(root, placeOf(key));
  const pathOf = (key: string) => join(directoryOf(key), key);
  const turns = new FairTurns();
  return {
    signer: null,

    async put(key, source, expected) {
      const turn: FileTurn = (operate) => turns.run(workspaceOf(key), operate);
      const draft = join(incoming, `${key}.${randomBytes(8).toString('hex')}`);
      const file = await turn(async () => {
        await makeDurableDirectory(incoming);
        return open(draft, 'wx', OWNER_ONLY_FILE);
      });
      try {
        const stored = await writeDurably(file, turn, source, expected);
        await turn(() => publish(draft, directoryOf(key), key));
        return stored;
      } catch (error) {
        await turn(() => rm(draft, { force: true }));
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

/** The directory of a key within the root. */
export function shardOf(key: string): string {
  const hash = createHash('sha256').update(key).digest('hex');
  return join(OBJECTS, hash.slice(0, 2), hash.slice(2, 4));
}

/** The keys of all objects begin with their workspace. */
function workspaceOf(key: string): string {
  return key.split('.', 1)[0] ?? '';
}

async function writeDurably(
  file: FileHandle,
  turn: FileTurn,
  source: AsyncIterable<Uint8Array>,
  expected: BytesExpected,
): Promise<BytesStored> {
  try {
    const draft = new DraftFile(file, turn, expected.sizeBytes);
    const stored = await takeBytes(source, expected, (piece) => draft.write(piece));
    await draft.finish();
    return stored;
  } finally {
    await file.close();
  }
}

/** Moves a complete file to its place. */
async function publish(draft: string, directory: string, key: string): Promise<void> {
  await makeDurableDirectory(directory);
  await rename(draft, join(directory, key));
  await syncDirectory(directory);
}

/** Creates a directory that survives a power failure: each new one is synced in its parent. */
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

/** A full disk is not the client's fault, so the client may try again later. */
function explainDiskError(error: unknown): unknown {
  if (!diskErrorCodes.has((error as NodeJS.ErrnoException).code ?? '')) return error;
  return new HubError('UNAVAILABLE', 'The hub cannot store the bytes now: try again later.', {
    cause: error,
  });
}
