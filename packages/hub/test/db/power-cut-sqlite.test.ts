import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { CrashedDisk, type Leftover, leftovers } from '../support/crashed-disk.ts';
import {
  type FileCall,
  readCalls,
  recordTo,
  startTraced,
  whyNoStrace,
} from '../support/system-calls.ts';
import { makeTempDir } from '../support/temp-dir.ts';

/*
 * A hub works under load while its system calls are recorded. Then the disk is rebuilt as a power
 * cut at many moments may have left it, and the database is opened there.
 *
 * SIGNALBOX_TEST_POWER_CUTS=400 examines more moments (default 20), and
 * SIGNALBOX_TEST_POWER_CUT_SEED=… chooses them as a failure has printed.
 */
const momentsMax = Number(process.env.SIGNALBOX_TEST_POWER_CUTS ?? 20);
const seed = Number(process.env.SIGNALBOX_TEST_POWER_CUT_SEED ?? randomBytes(4).readUInt32LE());
const CLIENTS = 12;
const JOBS_PER_CLIENT = 8;
/** On a busy machine, the thread that copies the log needs more of them. */
const JOBS_PER_CLIENT_MAX = 80;
const NEW_LOGS_MIN = 6;
/** Few, so that the short load copies and restarts the log many times. */
const CHECKPOINT_PAGES = 150;

const HUB = join(import.meta.dirname, '../support/recorded-hub.ts');
const { agents, jobs, repositories, workspaces } = endpoints;
/** SQLite's journal is in use only until the database is in WAL mode. */
const databaseFile = /\/signalbox\.db(-wal)?$/;

/** The promise that an answer has made. */
interface Promised {
  jobId: string;
  /** Of an answered claim. */
  generation: number;
  isDone: boolean;
}

/** mulberry32: small, and enough to spread the moments. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Counts how often the log starts again: its salt changes then (sqlite.org/fileformat2, 4.1). */
function createLogCounter(path: string): () => number {
  const salts = new Set<number>();
  const header = Buffer.alloc(32);
  return () => {
    const file = openSync(path, 'r');
    try {
      if (readSync(file, header) === header.length) salts.add(header.readUInt32BE(16));
    } finally {
      closeSync(file);
    }
    return salts.size - 1;
  };
}

async function loadHub(
  baseUrl: string,
  countNewLogs: () => number,
): Promise<Map<string, Promised>> {
  /** By the id that the hub sends with each answer. */
  const promisedBy = new Map<string, Promised>();
  async function post(path: string, body: unknown) {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const requestId = response.headers.get('x-request-id') ?? '';
    return { requestId, answer: JSON.parse(text) as Record<string, string> };
  }
  const { answer } = await post(workspaces.resolve.path, { slug: 'dev' });
  const { workspaceId } = answer;
  const repository = { workspaceId, remoteUrlHash: randomBytes(32).toString('hex') };
  const { repoId } = (await post(repositories.upsert.path, repository)).answer;
  const client = async (number: number) => {
    const beat = await post(agents.heartbeat.path, {
      workspaceId,
      status: 'online',
      displayName: `agent ${number}`,
      machineFingerprint: `machine-${number}`,
      agentVersion: '1',
      capabilities: { canWrite: true, reposAllowed: [repoId] },
    });
    const { agentId } = beat.answer;
    const isEnough = (done: number) =>
      done >= JOBS_PER_CLIENT_MAX || (done >= JOBS_PER_CLIENT && countNewLogs() >= NEW_LOGS_MIN);
    for (let done = 0; !isEnough(done); done++) {
      const draft = { workspaceId, repoId, kind: 'work', prompt: `job ${number} ${done}` };
      const added = await post(jobs.enqueue.path, draft);
      const { jobId } = added.answer;
      assert.ok(jobId !== undefined);
      promisedBy.set(added.requestId, { jobId, generation: 0, isDone: false });
      const claimed = await post(jobs.claimNext.path, { workspaceId, agentId, leaseMs: 600_000 });
      const claim = claimed.answer;
      if (claim.jobId === null || claim.jobId === undefined) continue;
      const held = { jobId: claim.jobId, generation: Number(claim.claimGeneration) };
      promisedBy.set(claimed.requestId, { ...held, isDone: false });
      const { requestId } = await post(jobs.complete.path, {
        workspaceId,
        agentId,
        jobId: held.jobId,
        claimGeneration: held.generation,
        outcome: 'done',
        message: 'x'.repeat(2_000),
      });
      promisedBy.set(requestId, { ...held, isDone: true });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  // A client can have an answer before strace has written the call that sent it. The hub's thread
  // continues only then, so one more answer means that all before it are in the recording.
  await post(workspaces.resolve.path, { slug: 'dev' });
  return promisedBy;
}

interface Recording {
  calls: FileCall[];
  /** The promise of the answer that a call sends. */
  promised: Map<FileCall, Promised>;
}

async function record(t: Parameters<typeof makeTempDir>[0]): Promise<Recording> {
  const directory = makeTempDir(t);
  const trace = join(directory, 'calls');
  const hub = await startTraced(t, recordTo(trace), [HUB, String(CHECKPOINT_PAGES)], {
    SVC_PORT: '0',
    SVC_DATA_DIR: join(directory, 'data'),
    SVC_DEV_ALLOW_UNAUTH: 'true',
    SVC_LOG_LEVEL: 'silent',
  });
  const countNewLogs = createLogCounter(join(directory, 'data', 'signalbox.db-wal'));
  const promisedBy = await loadHub(hub.firstLine, countNewLogs);
  await hub.kill();
  const calls: FileCall[] = [];
  const promised = new Map<FileCall, Promised>();
  for await (const call of readCalls(trace, (path) => databaseFile.test(path))) {
    calls.push(call);
    if (call.kind !== 'output') continue;
    const [requestId = ''] = /req_[0-9a-v]+/.exec(call.bytes.toString('latin1')) ?? [];
    const promise = promisedBy.get(requestId);
    if (promise !== undefined) promised.set(call, promise);
  }
  assert.equal(promised.size, promisedBy.size, 'every answer is in the recording');
  return { calls, promised };
}

/** The calls after which the power is cut: half of them right after an answer or a new log. */
function chooseMoments(
  { calls, promised }: Recording,
  count: number,
  random: () => number,
): Set<FileCall> {
  const first = calls.findIndex((call) => promised.has(call));
  const later = calls.slice(first);
  const special = later.filter((call) => promised.has(call) || isNewLog(call));
  const chosen = new Set<FileCall>();
  while (chosen.size < Math.min(count, special.length)) {
    const from = chosen.size % 2 === 0 ? special : later;
    chosen.add(from[Math.floor(random() * from.length)] as FileCall);
  }
  return chosen;
}

function isNewLog(call: FileCall): boolean {
  return call.kind === 'write' && call.file.endsWith('-wal') && call.offset === 0;
}

/** Opens the database that a power cut has left, and says what is wrong with it. */
function examine(files: ReadonlyMap<string, Buffer>, promised: readonly Promised[], dir: string) {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir);
  for (const [file, bytes] of files) writeFileSync(join(dir, basename(file)), bytes);
  const db = new DatabaseSync(join(dir, 'signalbox.db'));
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const row = db.prepare('PRAGMA integrity_check').get();
    if (row?.integrity_check !== 'ok') return `damaged: ${String(row?.integrity_check)}`;
    const entries = db.prepare('SELECT entry_id, status, attempt FROM queue_entries').all();
    const byId = new Map(entries.map((entry) => [entry.entry_id, entry]));
    for (const { jobId, generation, isDone } of promised) {
      const entry = byId.get(jobId);
      if (entry === undefined) return `lost: the answered enqueue of ${jobId}`;
      if (Number(entry.attempt) < generation) return `lost: the answered claim of ${jobId}`;
      if (isDone && entry.status !== 'done') return `lost: the answered completion of ${jobId}`;
    }
    return null;
  } catch (error) {
    return `unreadable: ${(error as Error).message}`;
  } finally {
    db.close();
  }
}

/**
 * Cuts the power at random moments, and each time leaves every kind of leftover.
 * @param counts whether a call takes effect.
 * @returns what was wrong, and how many cuts were made.
 */
function cutPower(
  recording: Recording,
  count: number,
  dir: string,
  counts: (call: FileCall) => boolean,
) {
  const random = createRandom(seed);
  const moments = chooseMoments(recording, count, random);
  const disk = new CrashedDisk();
  const answered: Promised[] = [];
  const findings: { leftover: Leftover; finding: string }[] = [];
  let cuts = 0;
  for (const call of recording.calls) {
    if (counts(call)) disk.take(call);
    const promise = recording.promised.get(call);
    if (promise !== undefined) answered.push(promise);
    if (!moments.has(call)) continue;
    for (const leftover of leftovers) {
      cuts += 1;
      const finding = examine(disk.cut(leftover, random), answered, join(dir, 'found'));
      if (finding !== null) findings.push({ leftover, finding });
    }
  }
  return { findings, cuts };
}

describe('power cuts', { skip: whyNoStrace() ?? false }, () => {
  let recording: Recording;
  let dir: string;
  const ends: (() => unknown)[] = [];
  before(async () => {
    const t = { after: (end: () => unknown) => void ends.push(end) };
    dir = makeTempDir(t);
    recording = await record(t);
  });
  after(() => {
    for (const end of ends.reverse()) end();
  });

  test('no power cut loses what was answered or damages the database', (t) => {
    const { findings, cuts } = cutPower(recording, momentsMax, dir, () => true);
    const restarts = recording.calls.filter(isNewLog).length;
    t.diagnostic(`seed ${seed}: ${cuts} power cuts, ${recording.promised.size} answers`);
    t.diagnostic(`${restarts} new logs`);
    assert.ok(restarts >= NEW_LOGS_MIN, `the log was copied, and started again ${restarts} times`);
    assert.deepEqual(findings, [], `SIGNALBOX_TEST_POWER_CUT_SEED=${seed}`);
  });

  test('without the sync of the hub itself, power cuts lose what was answered', (t) => {
    // SQLite calls fsync, the hub fdatasync.
    const isOwnSync = (call: FileCall) => 'call' in call && call.call === 'fdatasync';
    const { findings, cuts } = cutPower(recording, momentsMax / 2, dir, (call) => {
      return !isOwnSync(call);
    });
    t.diagnostic(`seed ${seed}: ${findings.length} of ${cuts} power cuts lose something`);
    assert.ok(findings.length > cuts / 20, `${findings.length} of ${cuts} lose something`);
    // Before the log is copied for the first time, all of it is lost, with the tables.
    assert.ok(
      findings.every(({ finding }) => /^lost|: no such table/.test(finding)),
      JSON.stringify(findings),
    );
  });
});
