/**
 * A coding tool that attacks its agent: the real command, a real hub, real git. Each way of running
 * a tool is a test file, because so many jobs take minutes on a busy machine.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { clientOf, git } from './harness.ts';
import {
  type Arena,
  attackIn,
  attacks,
  contentOf,
  openArena,
  otherCalls,
  PRIORITY,
  requirements,
  type Way,
} from './hostile-arena.ts';
import type { Attack } from './hostile-attacks.ts';

let arena: Arena;
const attack = (name: Attack) => attackIn(arena, name);
/** Of a job without a number of its own. */
const ATTEMPTS_MAX = 5;

/** Attacks that leave no repository, and the words for people. */
const broken: readonly (readonly [Attack, RegExp])[] = [
  ['replace .git by a file that leads to another repository', /\.git is no folder/],
  ['commit to nothing', /left 1{40}, which is no commit/],
  ['commit without the objects', /The commits cannot be read|git write-tree/],
  ['make HEAD a pipe', /\.git\/HEAD of the worktree is not a regular file/],
  ['replace .git by a link to the clone', /\.git is no folder/],
  ['make its objects a link', /\.git\/objects is no folder/],
  ['make its refs a link', /\.git\/refs is no folder/],
  ['make its index a link to a new file', /\.git\/index of the worktree: .* it is a link/],
  ['make its index a pipe', /\.git\/index of the worktree is not a regular file/],
  ['make .gitignore a pipe', /\.gitignore of the worktree is not a regular file/],
  ['borrow the objects of another repository', /alternates was changed/],
];
function testBroken() {
  for (const [name, words] of broken) {
    test(`that tries to ${name} fails its job, without a commit`, async () => {
      const before = contentOf(join(arena.clone, '.git'));
      const { job, reason, evidence } = await attack(name);
      assert.equal(job.status, 'failed');
      assert.equal(reason?.code, 'evidence_failed');
      assert.match(reason?.summary ?? '', words);
      assert.equal(evidence.commitSha, undefined);
      assert.deepEqual(contentOf(join(arena.clone, '.git')), before);
    });
  }
}

const wrongFiles: readonly (readonly [Attack, RegExp])[] = [
  ['make the result a pipe', /It is not a regular file/],
  ['make the result a device', /it is a link/],
  ['make the result a link to a file of the person', /it is a link/],
  ['make the result a second name of a file', /several names/],
  ['replace the folder of the result', /a folder of its path is a link/],
  ['write an endless result', /larger than 200000 bytes/],
  ['make the report a pipe', /report of the tool: It is not a regular file/],
  ['have the report written through a link', /report of the tool: .* it is a link/],
  ['have the report written through a second name', /report of the tool: .* several names/],
];
function testWrongFiles() {
  for (const [name, words] of wrongFiles) {
    test(`that tries to ${name} fails its job`, async () => {
      const { job, reason, text } = await attack(name);
      assert.equal(job.status, 'failed');
      assert.equal(reason?.code, 'result_file_invalid');
      assert.match(reason?.summary ?? '', words);
      assert.ok(!text.includes('stolen') && !text.includes('Noted. End your turn'));
    });
  }
}

function testFiles() {
  test('that puts programs into every configuration of git gets none of them run', async () => {
    const { job, evidence } = await attack('put programs into every configuration that git reads');
    assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
    const file = `${evidence.commitSha}:README.md`;
    assert.equal(git(arena.clone, '-c', 'core.fsmonitor=', 'show', file), 'hello\nchanged');
  });

  test('that prepares links for new refs has its work saved past them', async () => {
    const { job, evidence } = await attack('have its new refs written through a link');
    assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
    assert.equal(evidence.verdict, 'verified');
    assert.equal(git(arena.clone, 'show', `${evidence.commitSha}:README.md`), 'hello\nchanged');
  });

  test('attaches no file of the person, by a link or a path', async () => {
    const { evidence, text } = await attack('attach a file of the person');
    assert.ok((text.match(/is outside the worktree/g)?.length ?? 0) >= 2, text);
    assert.equal(evidence.attachments, undefined);
  });

  test('attaches nothing through a folder that it exchanges meanwhile', async () => {
    const { job, evidence } = await attack('attach through a folder that it exchanges');
    assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
    const { place } = arena;
    const { workspaceId } = place;
    for (const { uploadId } of (evidence.attachments ?? []) as { uploadId: string }[]) {
      const link = await clientOf(place).uploads.getDownloadUrl({ workspaceId, uploadId });
      assert.equal(await (await fetch(link.downloadUrl)).text(), 'mine\n');
    }
  });

  for (const name of ['replace the log by a pipe', 'write into the log'] as const) {
    test(`that tries to ${name} does not stop its agent`, async () => {
      assert.equal((await attack(name)).job.status, 'done');
    });
  }
}

/** Calls to the hub with the token of the job. */
function testCalls() {
  test('that completes its job itself is refused, and the check of the agent decides', async () => {
    const { job, evidence, said } = await attack('complete its job itself');
    assert.deepEqual(said, Array(2).fill('v1/jobs/complete NOT_ALLOWED'));
    assert.deepEqual([job.status, job.attempt, job.maxAttempts], ['done', 1, 1]);
    assertRefuted(evidence);
  });

  test('can neither end its lease nor speak as its agent', async () => {
    const { said, log, events } = await attack('end its lease and speak as its agent');
    const [path, refused] = ['v1/jobs/heartbeat', 'v1/jobs/heartbeat NOT_ALLOWED'];
    assert.deepEqual(said, [refused, refused, `${path} ok`, `${path} ok`]);
    const leases = [...log.matchAll(/^lease (\S+) from (\d+)$/gm)];
    assert.equal(leases.length, 2);
    for (const [line, end = '', from] of leases) {
      const leaseMs = Date.parse(end) - Number(from) * 1_000;
      assert.ok(leaseMs > 10_000 && leaseMs < 3_600_000, line);
    }
    assert.ok(!events.some(({ message }) => message === 'All checks passed.'));
  });

  test('that forges the numbers of its log does not silence the agent', async () => {
    const { said, log, events } = await attack('forge the numbers of its log');
    assert.deepEqual(said, ['v1/job-events/append ok']);
    assert.match(log, /it is not fine/);
    const forged = events.find(({ message }) => message === 'all fine\n');
    assert.deepEqual(forged?.data, { stream: 'tool', logSeq: Number.MAX_SAFE_INTEGER });
  });

  test('asks people only, for its own job, and not without end', async () => {
    const { client, ref, said } = await attack('have its questions answered without a person');
    const path = 'v1/uncertainties/create-with-auto-promotion';
    const codes = ['NOT_ALLOWED', 'NOT_ALLOWED', 'NOT_ALLOWED', 'LIMIT_REACHED'];
    assert.deepEqual(
      said,
      codes.map((code) => `${path} ${code}`),
    );
    const { uncertainties } = await client.uncertainties.list({ ...ref, limit: 100 });
    assert.equal(uncertainties.length, 50);
    assert.deepEqual([...new Set(uncertainties.map(({ status }) => status))], ['open']);
  });

  test('answers no question, its own included', async () => {
    const { client, ref, said } = await attack('answer its own question');
    const [asked, ...others] = said;
    assert.match(asked ?? '', / ok$/);
    assert.deepEqual(others, [
      'v1/uncertainties/add-resolution NOT_ALLOWED',
      'v1/uncertainties/withdraw-resolution NOT_ALLOWED',
      'v1/uncertainties/promote NOT_ALLOWED',
      'v1/uncertainties/take-answer NOT_ALLOWED',
    ]);
    const { uncertainties } = await client.uncertainties.list(ref);
    assert.deepEqual(
      uncertainties.map(({ status }) => status),
      ['open'],
    );
  });

  test('gets an answer applied where its own job could run', async () => {
    const { client, ref, runId } = await attack('ask for a job with the rights of a person');
    const { workspaceId } = ref;
    const { uncertainties } = await client.uncertainties.list(ref);
    const [asked] = uncertainties;
    assert.ok(asked, 'its question names its job, although it did not');
    const { uncertaintyId } = asked;
    const answer = { mode: 'answered', value: 'yes', confidence: 1 } as const;
    const person = arena.place.console;
    await person.uncertainties.addResolution({ workspaceId, uncertaintyId, ...answer });
    const { jobs } = await client.jobs.list({ workspaceId, runId, kind: 'apply_decision' });
    assertChildren(jobs, ref.jobId);
    assert.equal(jobs.length, 1);
  });

  test('changes nothing of its run but the milestone', async () => {
    const { client, ref, runId, said } = await attack('rewrite its run');
    const refused = ['v2/runs/upsert', 'v2/runs/upsert', 'v2/runs/upsert', 'v1/runs/upsert'];
    assert.deepEqual(said, [...refused.map((path) => `${path} NOT_ALLOWED`), 'v2/runs/upsert ok']);
    const { run } = await client.runs.get({ workspaceId: ref.workspaceId, runId });
    assert.deepEqual(
      [run.title, run.goal, run.status, run.currentMilestone],
      ['A run', 'A goal', 'in_progress', 'tests'],
    );
  });

  test('gives its children no rights that its own job does not have', async () => {
    const { client, ref, runId, said } = await attack('give work to any machine');
    assert.deepEqual(said, ['v1/jobs/enqueue NOT_ALLOWED']);
    const { jobs } = await client.jobs.list({ workspaceId: ref.workspaceId, runId });
    const children = jobs.filter(({ jobId }) => jobId !== ref.jobId);
    const prompts = ['child by its report', 'child by its result', 'child by its server'];
    assert.deepEqual(new Set(children.map(({ prompt }) => prompt)), new Set(prompts));
    assertChildren(children, ref.jobId);
  });

  test('uploads for its job only, and not without end', async () => {
    const { said } = await attack('take uploads that are not its own');
    const create = 'v1/uploads/create';
    assert.deepEqual(said, [
      'v1/uploads/delete UPLOAD_NOT_FOUND',
      'v1/uploads/get-download-url UPLOAD_NOT_FOUND',
      `${create} NOT_ALLOWED`,
      ...Array(10).fill(`${create} ok`),
      `${create} LIMIT_REACHED`,
    ]);
  });

  test('does not choose the context of its run', async () => {
    const { said } = await attack('choose the context of its run');
    const path = 'v1/context-packs/build-run-v1';
    assert.deepEqual(said, [`${path} NOT_ALLOWED`, `${path} ok`, `${path} NOT_ALLOWED`]);
  });

  test('reads neither other jobs nor other runs', async () => {
    const { said } = await attack('read what is not its own');
    assert.equal(said.length, 6);
    for (const line of said) assert.match(line, / NOT_ALLOWED$/);
  });

  test('is refused every other call', async () => {
    const { said } = await attack('make every other call');
    assert.deepEqual(
      said,
      otherCalls.map(({ path }) => `${path} NOT_ALLOWED`),
    );
  });
}

type ListedJob = Awaited<ReturnType<ReturnType<typeof clientOf>['jobs']['list']>>['jobs'][number];

/** They run where the job of the tool could run, with at most its priority. */
function assertChildren(jobs: readonly Partial<ListedJob>[], parentJobId: string): void {
  for (const { priority = NaN, maxAttempts = NaN, ...job } of jobs) {
    assert.equal(job.parentJobId, parentJobId);
    assert.equal(job.repoId, arena.repoId);
    assert.deepEqual(job.requirements, requirements);
    assert.ok(priority <= PRIORITY, `priority ${priority}`);
    assert.ok(maxAttempts <= ATTEMPTS_MAX, `${maxAttempts} attempts`);
  }
}

/** The agent's own check has failed, and nothing that the tool says of it is believed. */
function assertRefuted({ verdict, checks }: Record<string, unknown>): void {
  assert.equal(verdict, 'gaps');
  assert.deepEqual(
    (checks as { command: string; outcome: string }[]).map((one) => [one.command, one.outcome]),
    [['test ! -e forged', 'failed']],
  );
}

/** All but line feeds, and the marks that turn the direction of a text. */
const controlCharacters = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

/** Claims by its files and its output. */
function testWords() {
  test('that says that its work is proven has said no more than that it is done', async () => {
    const { job, evidence } = await attack('say that its work is proven');
    assert.equal(job.status, 'done');
    assert.equal(job.message, 'All passed.');
    assert.notEqual(evidence.commitSha, undefined);
    assertRefuted(evidence);
  });

  test('that says that its attempt does not count has used it', async () => {
    const { job } = await attack('say that its attempt does not count');
    assert.deepEqual([job.status, job.attempt, job.maxAttempts], ['failed', 1, 1]);
  });

  test('that reports checks and files of others is quoted, and proves nothing', async () => {
    const { client, ref, evidence } = await attack('report checks and files of others');
    assertRefuted(evidence);
    const check = { check: 'test ! -e forged', outcome: 'passed' };
    assert.deepEqual(evidence.reported, [check]);
    assert.deepEqual(evidence.findings, [{ file: 'a.ts', severity: 'minor', message: 'none' }]);
    const [attached] = evidence.attachments as { uploadId: string }[];
    const uploadId = attached?.uploadId ?? '';
    // Its job shows uploads of its own.
    await assert.rejects(client.uploads.getDownloadUrl({ ...ref, uploadId }), {
      code: 'UPLOAD_NOT_FOUND',
    });
    await client.uploads.getDownloadUrl({ workspaceId: ref.workspaceId, uploadId });
  });

  test('that prints control characters changes no terminal', async () => {
    const { ref } = await attack('print control characters');
    for (const words of [['job'], ['job', 'log']]) {
      const { stdout } = await arena.place.run([...words, ref.jobId]);
      assert.match(stdout, /d$/m);
      assert.doesNotMatch(stdout, controlCharacters);
    }
  });

  test('finds the agent’s token in no environment and no command line', async () => {
    const { job } = await attack('read the environment of every process above');
    assert.equal(job.status, 'done');
    const { place, token } = arena;
    const loot = readFileSync(join(place.directory, 'loot'), 'latin1');
    assert.ok(loot.includes(place.env.SIGNALBOX_CONFIG_DIR ?? '?'), 'it has read the agent’s');
    assert.ok(!loot.includes(token));
  });

  test('has a token in disguise redacted in output and results', async () => {
    const { text } = await attack('print the token in disguise');
    const { token } = arena;
    assert.ok(text.includes('[redacted]'));
    const visible = text.replaceAll(/\\u001b\[[0-9]*m|\\u001b\]0;title\\u0007|\\n|\u200b/g, '');
    assert.ok(!visible.includes(token));
    for (const before of ['', 'xx']) {
      const base64 = Buffer.from(before + token).toString('base64');
      assert.ok(!visible.includes(base64.slice(4, 44)), base64);
    }
  });
}

/** The attacks, by a tool that the agent runs in one way. */
export function testHostileTool(way: Way): void {
  describe(way, () => {
    before(async () => {
      arena = await openArena(way);
    });
    after(async () => await arena.place.end());
    testBroken();
    testWrongFiles();
    testFiles();
    testWords();
    // The hub knows of a call by the token of a job only that it has the token.
    if (way === 'a command') {
      testCalls();
      test('has tried every attack', () => {
        const all = Object.keys(attacks);
        assert.deepEqual(
          all.filter((name) => !arena.tried.has(name as Attack)),
          [],
        );
      });
    }
    test('leaves an agent that SIGTERM ends', async () => {
      arena.agent.child.kill('SIGTERM');
      const { exitCode, stderr } = await arena.agent.ended;
      assert.equal(exitCode, exitCodes.ok, stderr);
    });
  });
}
