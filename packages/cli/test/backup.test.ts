import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Client, createClient } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, startHub, useServiceToken } from './harness.ts';

let place: HubPlace;
let client: Client;
let workspaceId: string;
let repoId: string;
const dataDir = () => join(place.directory, 'data');
const backupDir = () => join(place.directory, 'backup');

before(async () => {
  place = await startHub();
  client = createClient({ baseUrl: place.url, token: await useServiceToken(place) });
  workspaceId = (await client.workspaces.resolve({ slug: place.workspaceSlug })).workspaceId ?? '';
  const remoteUrlHash = 'a'.repeat(64);
  repoId = (await client.repositories.upsert({ workspaceId, remoteUrlHash, label: 'api' })).repoId;
});
after(async () => await place.end());

async function enqueue(prompt: string): Promise<string> {
  return (await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt })).jobId;
}

async function storeUpload(bytes: Buffer<ArrayBuffer>): Promise<string> {
  const body = { workspaceId, fileName: 'plan.bin', contentType: 'application/octet-stream' };
  const { uploadId, uploadUrl } = await client.uploads.create({ ...body, sizeBytes: bytes.length });
  const answer = await fetch(uploadUrl, { method: 'PUT', body: bytes });
  assert.equal(answer.status, 200);
  return uploadId;
}

async function listJobIds(of: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  let cursor: string | null = null;
  do {
    const page = { limit: 200, ...(cursor === null ? {} : { cursor }) };
    const list = await of.jobs.list({ workspaceId, view: 'summary', ...page });
    for (const { jobId } of list.jobs) ids.add(jobId);
    cursor = list.nextCursor;
  } while (cursor !== null);
  return ids;
}

test('a hub that is backed up under load is restored elsewhere with all acknowledged jobs', async () => {
  const bytes = randomBytes(300_000);
  const uploadId = await storeUpload(bytes);
  // Clients that enqueue until the backup has ended.
  const acknowledged: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: 8 }, async (_, at) => {
    for (let n = 0; !isOver; n++) acknowledged.push(await enqueue(`Job ${n} of client ${at}`));
  });
  while (acknowledged.length < 200) await enqueue('one more');
  const before = [...acknowledged];
  const backup = await place.run(['backup', backupDir(), '--data-dir', dataDir(), '--json']);
  isOver = true;
  await Promise.all(clients);
  assert.equal(backup.exitCode, exitCodes.ok, backup.stderr);
  const report = JSON.parse(backup.stdout);
  assert.deepEqual([report.ok, report.path, report.problems], [true, backupDir(), []]);
  assert.ok(acknowledged.length > before.length, 'the hub worked while it was backed up');

  place.hub.child.kill('SIGKILL');
  await place.hub.ended;
  const killed = await place.run(['verify', '--data-dir', dataDir()]);
  assert.equal(killed.exitCode, exitCodes.ok, killed.stdout);
  const key = join(place.directory, 'kept.key');
  copyFileSync(join(dataDir(), 'secret.key'), key);
  rmSync(dataDir(), { recursive: true });

  const elsewhere = join(place.directory, 'elsewhere');
  const restored = await place.run([
    ...['restore', backupDir(), '--data-dir', elsewhere, '--keep-tokens'],
  ]);
  assert.equal(restored.exitCode, exitCodes.ok, restored.stderr);
  assert.match(restored.stderr, /Kept: tokens, sessions and links/);
  assert.match(restored.stderr, /has no key.*\n.*elsewhere\/secret\.key/);
  assert.equal(statSync(elsewhere).mode & 0o777, 0o700);
  copyFileSync(key, join(elsewhere, 'secret.key'));
  const verified = await place.run(['verify', '--data-dir', elsewhere]);
  assert.equal(verified.exitCode, exitCodes.ok, verified.stdout);
  assert.match(verified.stdout, /✔ Database.*\n✔ Key.*\n✔ Audit logs.*\n✔ Jobs.*\n✔ Files/);

  const hub = place.start(['serve', '--port', '0', '--data-dir', elsewhere]);
  const [, url = ''] = await hub.says(/listens on (http:\/\/\S+)/);
  const again = createClient({ baseUrl: url, token: place.env.SIGNALBOX_TOKEN });
  const there = await listJobIds(again);
  assert.deepEqual(
    before.filter((jobId) => !there.has(jobId)),
    [],
  );
  const { downloadUrl } = await again.uploads.getDownloadUrl({ workspaceId, uploadId });
  const download = Buffer.from(await (await fetch(downloadUrl)).arrayBuffer());
  const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  assert.equal(hashOf(download), hashOf(bytes));
});

test('a restore names what it has ended, and how to continue', async () => {
  const target = join(place.directory, 'named');
  const { exitCode, stderr } = await place.run(['restore', backupDir(), '--data-dir', target]);
  assert.equal(exitCode, exitCodes.ok, stderr);
  assert.match(stderr, /Ended, because .* would work again: 1 tokens \(1 live\)/);
  assert.match(stderr, new RegExp(`\\n {2}service {2}${place.workspaceSlug} {2}\\S`));
  assert.match(stderr, /signalbox admin person reset-password/);
  assert.match(stderr, new RegExp(`signalbox queue resume -w ${place.workspaceSlug}`));
  copyFileSync(join(place.directory, 'kept.key'), join(target, 'secret.key'));
  // As after a restore of the disk.
  const accepted = await place.run(['admin', 'accept-restore', '--data-dir', target, '--json']);
  assert.equal(accepted.exitCode, exitCodes.ok, accepted.stderr);
  const { epoch } = JSON.parse(accepted.stdout);
  assert.deepEqual(epoch.workspaces, [place.workspaceSlug]);
  assert.deepEqual(epoch.access.tokens, []);
});

test('a refusal is one sentence with a code, and changes nothing', async () => {
  const target = join(place.directory, 'other');
  for (const [args, sentence] of [
    [['backup', backupDir(), '--data-dir', join(place.directory, 'elsewhere')], /is not empty/],
    [['restore', place.directory, '--data-dir', target], /is not a complete backup/],
    [['verify', target], /is not a complete backup/],
  ] as const) {
    const { exitCode, stdout, stderr } = await place.run(args);
    assert.equal(exitCode, exitCodes.refused, args.join(' '));
    assert.equal(stdout, '');
    assert.match(stderr, sentence);
    assert.match(stderr, /BACKUP_REFUSED/);
  }
  assert.equal(existsSync(target), false);
});

test('verify prints a sentence for each problem of a backup', async () => {
  writeFileSync(join(backupDir(), 'signalbox.db'), 'no database');
  const { exitCode, stdout } = await place.run(['verify', backupDir(), '--json']);
  assert.equal(exitCode, exitCodes.failed);
  const { ok, parts } = JSON.parse(stdout);
  assert.equal(ok, false);
  assert.match(parts[0].problems[0], /signalbox\.db has other content than when it was written/);
});

test('doctor --hub has a line for each thing that a hub needs', async () => {
  const elsewhere = join(place.directory, 'elsewhere');
  const run = async (...args: string[]) => {
    const { exitCode, stdout } = await place.run(['doctor', '--hub', '--json', ...args]);
    const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string }[] };
    return { exitCode, states: Object.fromEntries(findings.map((row) => [row.name, row.state])) };
  };
  const whole = await run('--data-dir', elsewhere);
  const expected = { Disk: 'ok', Database: 'ok', Clock: 'ok', Key: 'ok', Mail: 'ok' };
  assert.partialDeepStrictEqual(whole.states, { ...expected, Address: 'ok', TLS: 'ok' });
  assert.partialDeepStrictEqual(whole.states, { Objects: 'ok', Sending: 'ok' });
  assert.equal(whole.exitCode, exitCodes.ok);
  rmSync(join(elsewhere, 'secret.key'));
  const keyless = await run('--data-dir', elsewhere);
  assert.deepEqual([keyless.exitCode, keyless.states.Key], [exitCodes.failed, 'wrong']);
  const nowhere = await run('--data-dir', join(place.directory, 'none'));
  assert.deepEqual([nowhere.states.Disk, nowhere.states.Database], ['wrong', 'wrong']);
});
