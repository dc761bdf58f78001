import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { ActivityItem, JobLogEntry, ToolCall } from '@signalbox/contract';
import { type Client, createClient } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, startHub } from './harness.ts';

const red = '\u001b[31m';
/** More than one page of the hub has, with control sequences in line 7. */
const LINES = 2_500;
const log = Array.from({ length: LINES }, (_, at) =>
  at === 6 ? `${red}Error\u001b[0m in line 7\u001b[2J\u0007` : `line ${at + 1}`,
);
const bytes = `${log.join('\n')}\n`;

let place: HubPlace;
let clone: string;
let jobId: string;
before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  clone = makeClone(place, 'api');
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  const { workspaceId, repoId } = (await json(['repo', 'link', '.'])).repo;
  ({ jobId } = await json(['enqueue', 'Talk']));
  const client = createClient({ baseUrl: place.url });
  const { agentId } = await client.agents.heartbeat({
    workspaceId,
    machineFingerprint: 'build-7',
    displayName: 'build-7',
    capabilities: { canWrite: true, reposAllowed: [repoId] },
  });
  const claimed = await client.jobs.claimNext({ workspaceId, agentId });
  assert.equal(claimed.jobId, jobId);
  await client.jobEvents.append({
    workspaceId,
    jobId,
    agentId,
    entries: [{ logSeq: 1, message: bytes }],
  });
  await enqueueCalls(client, { workspaceId, agentId });
});
after(async () => await place.end());

/** A second job, whose tool called others. */
let callsId: string;
async function enqueueCalls(client: Client, ref: { workspaceId: string; agentId: string }) {
  ({ jobId: callsId } = await json(['enqueue', 'Call']));
  await client.agents.heartbeat({
    workspaceId: ref.workspaceId,
    machineFingerprint: 'build-7',
    capabilities: { canWrite: true, maxConcurrentJobs: 2 },
  });
  assert.equal((await client.jobs.claimNext(ref)).jobId, callsId);
  const test = { id: 'c1', kind: 'execute', title: 'npm test' } as const;
  const failed = { ...test, status: 'failed', exitCode: 1, durationMs: 4_000 } as const;
  const longTitle = `npm run ${'very-'.repeat(20)}long`;
  const entries: JobLogEntry[] = [
    { logSeq: 1, message: 'I test.\n', activity: { isMessage: true } },
    { logSeq: 2, message: '→ npm test\n', activity: { toolCall: { ...test, status: 'running' } } },
    { logSeq: 3, message: '  ✖ exit code 1\n', activity: { toolCall: failed } },
    {
      logSeq: 4,
      message: `→ ${longTitle}\n`,
      activity: { toolCall: { ...test, id: 'c2', title: longTitle, status: 'running' } },
    },
  ];
  await client.jobEvents.append({ ...ref, jobId: callsId, entries });
}

const run = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  await place.run(args, { cwd: clone, env });

async function json(args: readonly string[]) {
  const { stdout, stderr, exitCode } = await run([...args, '--json']);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

const shown = async (...args: string[]) => (await run(['job', 'log', jobId, ...args])).stdout;

test('job log prints the whole output of an attempt, over several pages, as safe text', async () => {
  const { stdout, exitCode } = await run(['job', 'log', jobId.slice(-8)]);
  assert.equal(exitCode, exitCodes.ok);
  assert.equal(stdout, bytes.replace(log[6] ?? '', 'Error in line 7'));
  const colored = await run(['job', 'log', jobId, '--lines', '7'], { FORCE_COLOR: '1' });
  assert.equal(colored.stdout, `${red}Error\u001b[0m in line 7\u001b[0m\n`);
});

test('ranges and the tail are lines of the log', async () => {
  assert.equal(await shown('--lines', '10-12'), 'line 10\nline 11\nline 12\n');
  assert.equal(await shown('--lines', '2499-'), 'line 2499\nline 2500\n');
  assert.equal((await shown('--lines', '900-2100')).split('\n').length, 1_202);
  assert.equal(await shown('--tail', '2'), 'line 2499\nline 2500\n');
  const { lines, totalLines } = await json(['job', 'log', jobId, '--lines', '1000-1002']);
  assert.equal(totalLines, LINES);
  assert.deepEqual(
    lines.map(({ line, text }: { line: number; text: string }) => [line, text]),
    [1000, 1001, 1002].map((line) => [line, `line ${line}`]),
  );
});

test('--raw has the bytes as the tool wrote them', async () => {
  assert.equal(await shown('--raw'), bytes);
});

test('--search prints numbered lines in any case', async () => {
  assert.equal(await shown('--search', 'ERROR'), '7: Error in line 7\n');
  assert.deepEqual(await json(['job', 'log', jobId, '--search', 'line 2500']), {
    ok: true,
    attempt: 1,
    matches: [{ line: 2500, text: 'line 2500' }],
  });
  const none = await run(['job', 'log', jobId, '--search', 'nothing']);
  assert.deepEqual([none.exitCode, none.stdout], [exitCodes.ok, '']);
  assert.match(none.stderr, /No line contains this text/);
});

test('a job without output and options that do not fit are explained', async () => {
  const { jobId: silent } = await json(['enqueue', 'Silent']);
  for (const args of [[], ['--raw'], ['--tail', '5'], ['--search', 'x']]) {
    const { stdout, exitCode, stderr } = await run(['job', 'log', silent, ...args]);
    assert.deepEqual([stdout, exitCode], ['', exitCodes.ok], stderr);
  }
  for (const args of [
    ['--lines', '9-3'],
    ['--lines', '0'],
    ['--lines', 'x'],
    ['--raw', '--json'],
    ['--tail', '2', '--search', 'x'],
    ['--calls', '--raw'],
    ['--search', 'x'.repeat(201)],
  ]) {
    const { stdout, exitCode, stderr } = await run(['job', 'log', jobId, ...args]);
    assert.deepEqual([stdout, exitCode], ['', exitCodes.usage], args.join(' '));
    assert.match(stderr, /✖|"error":"USAGE"/);
  }
  const unknown = await run(['job', 'log', `job_${'0'.repeat(32)}`, '--raw']);
  assert.equal(unknown.exitCode, exitCodes.refused);
  assert.match(unknown.stderr, /JOB_NOT_FOUND/);
});

test('a tool call has its state behind it in color, and is plain text in a pipe', async () => {
  const plain = (await run(['job', 'log', callsId])).stdout;
  assert.match(plain, /^I test\.\n→ npm test\n {2}✖ exit code 1\n→ npm run very-/);
  const { stdout } = await run(['job', 'log', callsId], { FORCE_COLOR: '1' });
  const lines = stripVTControlCharacters(stdout).split('\n');
  assert.equal(lines[1], '→ npm test  ✖ exit code 1, 4s');
  assert.match(lines[3] ?? '', /long {2}◐ running$/);
});

test('job log --json has the activities of the lines', async () => {
  const { activities } = await json(['job', 'log', callsId, '--lines', '2-3']);
  assert.deepEqual(
    activities.map(({ line, activity }: ActivityItem) => [line, activity.toolCall?.status]),
    [
      [2, 'running'],
      [3, 'failed'],
    ],
  );
});

test('job log --calls prints a line for each call, with its number and its state', async () => {
  const { stdout } = await run(['job', 'log', callsId, '--calls']);
  const [failed = '', running = '', ...rest] = stdout.split('\n');
  assert.equal(failed, '2: npm test  ✖ exit code 1, 4s');
  assert.match(running, /^4: npm run (?:very-){20}long {2}◐ running$/);
  assert.deepEqual(rest, ['']);
  const { calls } = await json(['job', 'log', callsId, '--calls']);
  assert.deepEqual(
    calls.map(({ line, status, exitCode }: ToolCall & { line: number }) => [
      line,
      status,
      exitCode,
    ]),
    [
      [2, 'failed', 1],
      [4, 'running', undefined],
    ],
  );
  const none = await run(['job', 'log', jobId, '--calls']);
  assert.deepEqual([none.stdout, none.exitCode], ['', exitCodes.ok]);
  assert.match(none.stderr, /has reported no calls/);
});
