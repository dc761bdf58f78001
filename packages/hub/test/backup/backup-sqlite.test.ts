import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { BackupError } from '../../src/backup/backup-error.ts';
import { StartError } from '../../src/db/data-directory.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import { backUpHub, restoreHub, verifyHub } from '../../src/start/operate.ts';
import { createArchiveStore, uploadPath } from '../../src/uploads/deps.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestHub } from '../support/test-hub.ts';
import { makeBytes, sha256Of, upload } from '../support/upload-setup.ts';

const { jobs } = endpoints;

const ending = { keepsTokens: false };

const configOf = (dataDir: string): Config => ({ ...readConfig({}), dataDir });

/** A hub that was stopped, with a job and an upload. */
async function makeUsedHub(t: TestContext) {
  const h = await startHomeWorld(t);
  const { workspaceId, repoId } = h.home;
  const body = { workspaceId, repoId, kind: 'work', prompt: 'Do it.' } as const;
  const { jobId } = await h.call(jobs.enqueue, body);
  const bytes = makeBytes(70_000);
  await upload(h, bytes);
  await h.hub.stop();
  const { dataDir } = h;
  const [row] = query(dataDir, 'SELECT object_key FROM uploads');
  const objectPath = join(dataDir, uploadPath(String(row?.object_key)));
  return { dataDir, workspaceId, jobId, objectPath, root: makeTempDir(t) };
}

function query(dataDir: string, sql: string) {
  const database = new DatabaseSync(join(dataDir, 'signalbox.db'));
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

async function problemsOf(dataDir: string, backup: string | null = null): Promise<string[]> {
  const parts = await verifyHub(configOf(dataDir), backup);
  return parts.flatMap(({ problems }) => problems);
}

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => assert.fail('it was not refused'),
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof BackupError, String(error));
  return error.message;
}

/** Changes one byte in the middle of a file. */
function flipByte(path: string): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test('a backup is for the owner only, whole, and described by its manifest', async (t) => {
  const { dataDir, objectPath, root } = await makeUsedHub(t);
  const target = join(root, 'deep', 'backup');
  const { path, manifest, missing } = await backUpHub(configOf(dataDir), target, {
    withKey: false,
  });
  assert.deepEqual([path, missing], [target, []]);
  assert.equal(statSync(target).mode & 0o777, 0o700);
  const files = readdirSync(target, { recursive: true, withFileTypes: true });
  for (const file of files) {
    const { mode } = statSync(join(file.parentPath, file.name));
    assert.equal(mode & 0o777, file.isFile() ? 0o600 : 0o700, file.name);
  }
  assert.deepEqual(manifest, JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8')));
  assert.deepEqual(
    manifest.files.map((file) => file.path),
    ['signalbox.db', objectPath.slice(dataDir.length + 1)],
  );
  assert.deepEqual(manifest.key.included, false);
  assert.equal(manifest.key.place, join(dataDir, 'secret.key'));
  assert.ok(!existsSync(join(target, 'secret.key')));
  assert.deepEqual(readdirSync(join(root, 'deep')), ['backup'], 'nothing else is left');
  assert.deepEqual(await problemsOf(dataDir, target), []);
});

test('a restored hub has everything, and starts with the key of the former one', async (t) => {
  const { dataDir, workspaceId, jobId, root } = await makeUsedHub(t);
  const backup = join(root, 'backup');
  await backUpHub(configOf(dataDir), backup, { withKey: false });
  const restored = join(root, 'restored');
  const report = await restoreHub(configOf(restored), backup, ending);
  assert.equal(report.hasKey, false);
  // Without its key the hub is refused, and the refusal leaves no other key behind.
  await assert.rejects(startTestHub(t, { dataDir: restored }), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /key is missing: copy .* to .*secret\.key/);
    return true;
  });
  assert.equal(existsSync(join(restored, 'secret.key')), false);
  assert.match((await problemsOf(restored)).join(), /key is missing/);
  cpSync(join(dataDir, 'secret.key'), join(restored, 'secret.key'));
  assert.deepEqual(await problemsOf(restored), []);
  const { database } = await startTestHub(t, { dataDir: restored });
  const row = await database.reader.firstSql<{ job_id: string }>(
    'SELECT job_id FROM jobs WHERE workspace_id = ?',
    [workspaceId],
  );
  assert.equal(row?.job_id, jobId);
});

test('a backup with the key restores a hub that starts at once', async (t) => {
  const { dataDir, root } = await makeUsedHub(t);
  const backup = join(root, 'backup');
  await backUpHub(configOf(dataDir), backup, { withKey: true });
  // A directory that exists, as a mounted volume does.
  const volume = join(root, 'volume');
  mkdirSync(volume);
  const { hasKey } = await restoreHub(configOf(volume), backup, ending);
  assert.equal(hasKey, true);
  assert.deepEqual(readdirSync(volume).toSorted(), ['secret.key', 'signalbox.db', 'uploads']);
  assert.deepEqual(await problemsOf(volume), []);
  await startTestHub(t, { dataDir: volume });
});

test('verify finds each damage and says it in a sentence', async (t) => {
  const { dataDir, jobId, objectPath, root } = await makeUsedHub(t);
  const object = objectPath.slice(dataDir.length);
  const damages: [(copy: string) => unknown, RegExp][] = [
    [(copy) => flipByte(copy + object), /upload upl_\S+ \(.*\) has other content than was stored/],
    [(copy) => rmSync(copy + object), /The file of upload upl_\S+ \(.*\) is missing: restore/],
    [(copy) => truncateSync(copy + object, 10), /has 10 bytes instead of 70000/],
    [(copy) => query(copy, "UPDATE audit_entries SET actor = 'eve'"), /audit log .*altered-entry/],
    [(copy) => query(copy, 'DELETE FROM audit_entries WHERE seq = 1'), /audit log .*missing-entry/],
    [(copy) => query(copy, 'DELETE FROM queue_entries'), new RegExp(`job ${jobId} has no entry`)],
    [(copy) => query(copy, 'DELETE FROM jobs'), new RegExp(`entry for ${jobId}, which is no job`)],
    [(copy) => cutFile(join(copy, 'signalbox.db')), /database .* is damaged .*: restore a backup/],
    [(copy) => flipByte(join(copy, 'secret.key')), /key .* is not the one|must hold 32 bytes/],
  ];
  for (const [at, [damage, sentence]] of damages.entries()) {
    const copy = join(root, String(at));
    cpSync(dataDir, copy, { recursive: true });
    assert.deepEqual(await problemsOf(copy), [], 'whole before the damage');
    damage(copy);
    const problems = await problemsOf(copy);
    assert.ok(
      problems.some((problem) => sentence.test(problem)),
      `${at}: ${problems.join(' ')}`,
    );
  }
});

function cutFile(path: string): void {
  truncateSync(path, Math.floor(statSync(path).size / 2));
}

test('a backup of a damaged hub says what is missing, and refuses a damaged database', async (t) => {
  const { dataDir, objectPath, root } = await makeUsedHub(t);
  flipByte(objectPath);
  const damaged = await backUpHub(configOf(dataDir), join(root, 'one'), { withKey: false });
  assert.match(damaged.missing.join(), /upload upl_\S+ .* is damaged/);
  rmSync(objectPath);
  const { missing } = await backUpHub(configOf(dataDir), join(root, 'two'), { withKey: false });
  assert.match(missing.join(), /upload upl_\S+ .* is missing/);
  cutFile(join(dataDir, 'signalbox.db'));
  const refused = backUpHub(configOf(dataDir), join(root, 'three'), { withKey: false });
  assert.match(await refusalOf(refused), /database is damaged/);
  assert.deepEqual(readdirSync(root).toSorted(), ['one', 'two']);
});

test('a damaged backup is refused before anything is written', async (t) => {
  const { dataDir, root } = await makeUsedHub(t);
  const whole = join(root, 'whole');
  const { manifest } = await backUpHub(configOf(dataDir), whole, { withKey: true });
  const object = manifest.files.find(({ path }) => path.startsWith('uploads'))?.path ?? '';
  const write = (copy: string, change: object) =>
    writeFileSync(join(copy, 'manifest.json'), JSON.stringify({ ...manifest, ...change }));
  const damages: [(copy: string) => unknown, RegExp][] = [
    [(copy) => rmSync(join(copy, 'manifest.json')), /not a complete backup/],
    [(copy) => writeFileSync(join(copy, 'manifest.json'), '{"format":'), /cannot be read/],
    [(copy) => write(copy, { format: 'other' }), /not the manifest/],
    [(copy) => write(copy, { schemaVersion: 9_999 }), /install that version first/],
    [(copy) => write(copy, { files: [{ ...manifest.files[0], path: '../x' }] }), /outside of it/],
    [(copy) => flipByte(join(copy, 'signalbox.db')), /damaged: .*signalbox\.db has other content/],
    [(copy) => rmSync(join(copy, object)), /not complete: .* is missing/],
    [(copy) => flipByte(join(copy, object)), /is damaged: .* has other content/],
  ];
  for (const [at, [damage, sentence]] of damages.entries()) {
    const copy = join(root, String(at));
    cpSync(whole, copy, { recursive: true });
    damage(copy);
    const target = join(root, 'target');
    assert.match(await refusalOf(restoreHub(configOf(target), copy, ending)), sentence);
    assert.equal(existsSync(target), false);
  }
});

test('files of the archive are in the backup, and verify compares them with their hashes', async (t) => {
  const { dataDir, workspaceId, root } = await makeUsedHub(t);
  const key = `${workspaceId}.2026-11.part`;
  const bytes = Buffer.from('{"type":"job"}\n');
  const store = createArchiveStore({ ...configOf(dataDir), archiveJobs: true });
  async function* pieces() {
    yield bytes;
  }
  const content = { sizeBytes: bytes.length, sha256: sha256Of(bytes) };
  await store?.put(key, pieces(), content);
  query(
    dataDir,
    `INSERT INTO archive_parts (workspace_id, object_key, month, jobs, events, size_bytes, sha256,
       created_at, sealed_at)
     VALUES ('${workspaceId}', '${key}', '2026-11', 1, 0, ${content.sizeBytes}, '${content.sha256}',
       1, 1)`,
  );
  const backup = join(root, 'backup');
  const { manifest, missing } = await backUpHub(configOf(dataDir), backup, { withKey: false });
  assert.deepEqual(missing, []);
  const file = manifest.files.find(({ path }) => path.startsWith('archive'));
  assert.deepEqual(file, { path: join('archive', workspaceId, '2026-11', key), ...content });
  assert.deepEqual(await problemsOf(dataDir), []);
  flipByte(join(dataDir, file?.path ?? ''));
  assert.match((await problemsOf(dataDir)).join(), /archive file \S+ has other content/);
});

test('neither command overwrites anything', async (t) => {
  const { dataDir, root } = await makeUsedHub(t);
  const config = configOf(dataDir);
  const backup = join(root, 'backup');
  await backUpHub(config, backup, { withKey: false });
  assert.match(await refusalOf(backUpHub(config, backup, { withKey: false })), /is not empty/);
  assert.match(await refusalOf(restoreHub(config, backup, ending)), /is not empty: stop its hub/);
  const otherKey = { ...configOf(join(root, 'new')), secretKey: Buffer.alloc(32, 9) };
  assert.match(
    await refusalOf(restoreHub(otherKey, backup, ending)),
    /SVC_SECRET_KEY is not the key/,
  );
  const postgres = { ...config, databaseUrl: 'postgres://signalbox@127.0.0.1/signalbox' };
  const dump = backUpHub(postgres, join(root, 'dump'), { withKey: false });
  assert.match(await refusalOf(dump), /Run pg_dump .*uploads/);
  assert.match(await refusalOf(restoreHub(postgres, backup, ending)), /pg_restore/);
});

test('a restore that fails midway leaves nothing, and an aborted one keeps a hub from starting', async (t) => {
  const { dataDir, root } = await makeUsedHub(t);
  const backup = join(root, 'backup');
  const { manifest } = await backUpHub(configOf(dataDir), backup, { withKey: true });
  const object = manifest.files.find(({ path }) => path.startsWith('uploads'))?.path ?? '';
  const volume = join(root, 'volume');
  mkdirSync(volume);
  // A file that the manifest names twice fails at its second copy.
  const twice = [...manifest.files, ...manifest.files.filter(({ path }) => path === object)];
  writeFileSync(join(backup, 'manifest.json'), JSON.stringify({ ...manifest, files: twice }));
  await assert.rejects(restoreHub(configOf(volume), backup, ending), { code: 'EEXIST' });
  assert.deepEqual(readdirSync(volume), []);
  await assert.rejects(restoreHub(configOf(join(root, 'new')), backup, ending), { code: 'EEXIST' });
  assert.deepEqual(readdirSync(root).toSorted(), ['backup', 'volume']);
  // As after kill -9 of the restore.
  writeFileSync(join(volume, 'restoring'), backup);
  await assert.rejects(
    startTestHub(t, { dataDir: volume, newDatabase: true }),
    /A restore into .* did not end/,
  );
  assert.equal(existsSync(join(volume, 'signalbox.db')), false);
});
