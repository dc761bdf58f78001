import { readFileSync } from 'node:fs';
import { isAbsolute, join, normalize } from 'node:path';
import Type, { type Static } from 'typebox';
import { compileLater } from '../base/compile-later.ts';
import { migrations } from '../db/migrations/index.ts';
import { BackupError } from './backup-error.ts';

export const MANIFEST_FILE = 'manifest.json';
export const KEY_FILE = 'secret.key';

const sizeBytes = Type.Integer({ minimum: 0 });
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** The description of a backup. It is written last, so a backup without it is not complete. */
const Manifest = Type.Object({
  format: Type.Literal('signalbox-backup/1'),
  hubVersion: Type.String(),
  /** The newest migration of the database. */
  schemaVersion: Type.Integer(),
  createdAt: Type.String(),
  /** The place of the hub's key; the key itself is in the backup only if `included`. */
  key: Type.Object({
    place: Type.String(),
    fingerprint: Type.Union([Type.String(), Type.Null()]),
    included: Type.Boolean(),
  }),
  /** Where the bytes of uploads and archives are: in the backup, or in this object store. */
  objectStore: Type.Union([
    Type.Literal('directory'),
    Type.Object({ endpoint: Type.String(), bucket: Type.String() }),
  ]),
  /** Every file but this one, by its path in the backup, which is that in the data directory. */
  files: Type.Array(Type.Object({ path: Type.String(), sizeBytes, sha256 })),
});
export type Manifest = Static<typeof Manifest>;
export type ManifestFile = Manifest['files'][number];

const schema = compileLater(Manifest);

/**
 * Reads the manifest of a backup.
 *
 * @throws BackupError
 */
export function readManifest(directory: string): Manifest {
  const path = join(directory, MANIFEST_FILE);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new BackupError(
      isMissing
        ? `${directory} is not a complete backup: it has no ${MANIFEST_FILE}. Name the directory ` +
            'that signalbox backup wrote.'
        : `The file ${path} cannot be read (${(error as Error).message}): take another backup.`,
    );
  }
  if (!schema().Check(value)) {
    throw new BackupError(
      `The file ${path} is not the manifest of a backup that this version understands: restore ` +
        'with the version of Signalbox that wrote it, or take another backup.',
    );
  }
  for (const { path: name } of value.files) {
    if (!isInside(name)) throw new BackupError(`The file ${path} names "${name}" outside of it.`);
  }
  const newest = migrations.at(-1)?.version ?? 0;
  if (value.schemaVersion > newest) {
    throw new BackupError(
      `The backup was made by Signalbox ${value.hubVersion} with schema version ` +
        `${value.schemaVersion}, but this one supports up to ${newest}: install that version first.`,
    );
  }
  return value;
}

function isInside(path: string): boolean {
  return !isAbsolute(path) && normalize(path) === path && !path.startsWith('..');
}
