import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ToolCall } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, onTerminal, startHub } from './harness.ts';

let place: HubPlace;
let clone: string;
let workspaceId: string;
let runId: string;
before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  clone = makeClone(place, 'api');
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  const linked = await place.run(['repo', 'link', '.', '--json'], { cwd: clone });
  const { repo } = JSON.parse(linked.stdout);
  ({ workspaceId } = repo);
  ({ runId } = await client().runs.upsertV1({
    workspaceId,
    repoId: repo.repoId,
    runRef: 'health',
    title: 'Health check',
    status: 'in_progress',
  }));
});
after(async () => await place.end());

const client = () => createClient({ baseUrl: place.url });

async function ask(prompt: string): Promise<string> {
  const { uncertaintyId } = await client().uncertainties.createWithAutoPromotion({
    workspaceId,
    runId,
    prompt,
    kind: 'approval',
    confidence: 0.2,
    impact: 'medium',
    reversibility: 'easy',
    options: [
      { value: 'yes', label: 'Report it' },
      { value: 'no', label: 'Leave it out' },
    ],
  });
  return uncertaintyId;
}

async function answerIn(uncertaintyId: string): Promise<string | null> {
  const { uncertainty } = await client().uncertainties.get({ workspaceId, uncertaintyId });
  return uncertainty.resolution?.value ?? null;
}

async function startCalling(): Promise<{ jobId: string; agentId: string }> {
  const { jobId } = JSON.parse(
    (await place.run(['enqueue', 'Call tools', '--json'], { cwd: clone })).stdout,
  );
  const { agentId } = await client().agents.heartbeat({
    workspaceId,
    displayName: 'build-7',
    machineFingerprint: 'build-7',
    capabilities: { canWrite: true },
  });
  assert.equal(
    (await client().jobs.claimNext({ workspaceId, agentId, kinds: ['work'] })).jobId,
    jobId,
  );
  return { jobId, agentId };
}

const watch = (columns: number) => onTerminal(place, clone, columns, ['watch']);

test('watch answers a question by keys on a terminal of each width, and ends cleanly', async () => {
  for (const columns of [60, 80, 200]) {
    const id = await ask(`May the check run at ${columns} columns?`);
    const terminal = watch(columns);
    await terminal.shows(/▸ \S+ +approval: May the check/);
    terminal.type('\r');
    await terminal.shows(/1 {2}Report it/);
    terminal.type('2');
    await terminal.shows(/▸ 2/);
    terminal.type('\r');
    await terminal.shows(/Answered: no/);
    assert.equal(await answerIn(id), 'no');
    terminal.type('\u0003');
    const { exitCode, output } = await terminal.ended;
    assert.equal(exitCode, exitCodes.ok, output);
    assert.ok(output.includes('\u001b[?1049h'), 'the alternate screen begins');
    assert.ok(output.trimEnd().endsWith('\u001b[?25h\u001b[?1049l'), 'the screen is as before');
  }
});

test('watch shows a question that comes later, and without a terminal prints lines', async () => {
  const terminal = watch(80);
  await terminal.shows(/QUESTIONS/);
  const watching = place.start(['watch'], { cwd: clone });
  await ask('Which port is free for the check?');
  await terminal.shows(/Which port is free for the check\?/);
  await watching.says(/\d\d:\d\d:\d\d {2}◆ approval +\S+ {2}Which port is free for the check\?\n/);
  terminal.type('q');
  assert.equal((await terminal.ended).exitCode, exitCodes.ok);
  watching.child.kill('SIGINT');
  const { exitCode, stdout } = await watching.ended;
  assert.equal(exitCode, exitCodes.interrupted);
  assert.ok(!stdout.includes('\u001b'), 'lines have no control sequences');
});

test('watch shows what the tool of a running job does, as it begins and as it ends', async () => {
  const { jobId, agentId } = await startCalling();
  const call = { id: 'c1', kind: 'execute', title: 'npm test' } as const;
  const report = (logSeq: number, toolCall: ToolCall) =>
    client().jobEvents.append({
      workspaceId,
      jobId,
      agentId,
      entries: [{ logSeq, message: `${toolCall.status}\n`, activity: { toolCall } }],
    });
  const terminal = watch(80);
  const watching = place.start(['watch'], { cwd: clone });
  await watching.says(/running.*Call tools\n/);
  await report(1, { ...call, status: 'running' });
  await terminal.shows(/→ .*npm test.* {2}.*◐ running/);
  await report(2, { ...call, status: 'failed', exitCode: 3, durationMs: 2_000 });
  await terminal.shows(/→ .*npm test.* {2}.*✖ exit code 3, 2s/);
  await watching.says(/→ call +\S+ {2}npm test {2}✖ exit code 3, 2s\n/);
  terminal.type('q');
  assert.equal((await terminal.ended).exitCode, exitCodes.ok);
  watching.child.kill('SIGINT');
  const { stdout } = await watching.ended;
  assert.equal(stdout.match(/npm test/g)?.length, 1, 'a line for each call, when it has ended');
});
