import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createClient } from '@signalbox/sdk';
import { commandFile, exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, startHub } from './harness.ts';

/*
 * The hub runs without authentication, so the command acts as the operator, who may send commands
 * to agents. Programs may not.
 */
let place: HubPlace;
let clone: string;
let workspaceId: string;
let repoId: string;
before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  clone = makeClone(place, 'api');
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  const linked = await json(['repo', 'link', '.']);
  ({ workspaceId, repoId } = linked.repo);
});
after(async () => await place.end());

async function run(args: readonly string[]) {
  return await place.run(args, { cwd: clone });
}

/** Runs the command on a terminal of a width, with colours, and returns its lines without them. */
function onTerminal(columns: number, args: readonly string[]): string[] {
  const line = [process.execPath, commandFile, ...args].map((word) => `'${word}'`).join(' ');
  const output = execFileSync('script', ['-qec', `stty cols ${columns}; ${line}`, '/dev/null'], {
    cwd: clone,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...place.env, SHELL: '/bin/sh', TERM: 'xterm-256color', FORCE_COLOR: '1' },
  });
  assert.notEqual(output, stripVTControlCharacters(output), 'it has colours');
  return stripVTControlCharacters(output).split(/\r?\n/);
}

async function json(args: readonly string[]) {
  const { stdout, stderr, exitCode } = await run([...args, '--json']);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

const client = () => createClient({ baseUrl: place.url });

async function beat(name: string, more: { commandNumber?: number; status?: 'offline' } = {}) {
  return await client().agents.heartbeat({
    workspaceId,
    machineFingerprint: name,
    displayName: name,
    capabilities: {
      canWrite: true,
      reposAllowed: [repoId],
      tools: [{ name: 'claude', model: 'opus', models: ['opus'] }],
    },
    agentVersion: '0.1.0',
    platform: 'linux',
    arch: 'x64',
    ...more,
  });
}

test('agents says how to start the first one', async () => {
  const { stdout } = await run(['agents']);
  assert.match(stdout, /No agents yet\. .*signalbox agent start/);
});

test('agents lists what each holds, and offline ones with --all', async () => {
  const { agentId } = await beat('build-7');
  await beat('old', { status: 'offline' });
  await json(['enqueue', 'Write a rather long title that does not fit into a narrow terminal']);
  const claimed = await client().jobs.claimNext({ workspaceId, agentId });
  assert.ok(claimed.jobId);
  const { agents, counts } = await json(['agents']);
  assert.deepEqual(counts, { online: 1, draining: 0, offline: 1 });
  assert.deepEqual(
    agents.map((agent: { displayName: string; heldCount: number }) => [
      agent.displayName,
      agent.heldCount,
    ]),
    [['build-7', 1]],
  );
  assert.equal((await json(['agents', '--all'])).agents.length, 2);
  for (const columns of [60, 80]) {
    const lines = onTerminal(columns, ['agents', '--all']);
    assert.match(lines.join('\n'), /build-7 +Write a/);
    for (const line of lines) assert.ok(line.length <= columns, line);
  }
});

test('agent drain, resume and stop find the agent by name or ID and say what happens', async () => {
  const drained = await run(['agent', 'drain', 'build-7', '--reason', 'New memory']);
  assert.equal(drained.exitCode, exitCodes.ok, drained.stderr);
  assert.match(drained.stdout, /build-7: gets no more jobs .* finishes the job that it holds/);
  assert.deepEqual((await beat('build-7')).commands, [{ command: 'drain', number: 1 }]);
  await beat('build-7', { commandNumber: 1 });
  const [agent] = (await json(['agents'])).agents;
  assert.deepEqual([agent.command.state, agent.command.reason], ['draining', 'New memory']);
  assert.match((await run(['agents'])).stdout, /◐ draining/);
  const resumed = await json(['agent', 'resume', agent.agentId.slice(-8)]);
  assert.equal(resumed.agent.command.command, 'resume');
  const stopped = await json(['agent', 'stop', agent.agentId, '--now']);
  assert.equal(stopped.agent.command.command, 'stop-now');
});

test('an unknown or ambiguous agent is refused with the next step', async () => {
  const unknown = await run(['agent', 'drain', 'nobody']);
  assert.equal(unknown.exitCode, exitCodes.refused);
  assert.match(unknown.stderr, /List agents: .*signalbox agents/);
  for (const machine of ['a', 'b']) {
    await client().agents.heartbeat({
      workspaceId,
      machineFingerprint: machine,
      displayName: 'twin',
    });
  }
  const twins = await run(['agent', 'drain', 'twin']);
  assert.equal(twins.exitCode, exitCodes.usage);
  assert.match(twins.stderr, /Several agents match "twin": agt_/);
  const stopped = await run(['agent', 'stop', 'old']);
  assert.equal(stopped.exitCode, exitCodes.refused);
  assert.match(stopped.stderr, /AGENT_STOPPING/);
});

test('repo pause, resume and archive act on the repository of the clone', async () => {
  assert.deepEqual(await json(['repo', 'pause', '--reason', 'Freeze']), {
    ok: true,
    repoId,
    paused: true,
  });
  const { pauses } = await client().queue.listPauses({ workspaceId });
  assert.deepEqual([pauses[0]?.repoId, pauses[0]?.reason], [repoId, 'Freeze']);
  assert.equal((await json(['repo', 'resume'])).paused, false);
  assert.equal((await json(['repo', 'archive', repoId])).repo.status, 'archived');
  assert.match((await run(['repo', 'archive', '--undo'])).stdout, /acme\/api is active/);
});

test('runs lists runs and shows one with its jobs', async () => {
  assert.match((await run(['runs'])).stdout, /No runs yet/);
  const { runId } = await client().runs.upsertV1({
    workspaceId,
    repoId,
    runRef: 'health',
    title: 'Health check',
    status: 'in_progress',
    currentMilestone: 'planning',
  });
  const first = await json(['enqueue', 'Plan it', '--run', runId]);
  await json(['enqueue', 'Do it', '--run', runId, '--depends-on', first.jobId]);
  const shown = await json(['runs', 'health']);
  assert.deepEqual(
    shown.jobs.map((job: { title: string; dependsOn: string[] }) => [job.title, job.dependsOn]),
    [
      ['Plan it', []],
      ['Do it', [first.jobId]],
    ],
  );
  assert.equal((await json(['runs'])).runs.length, 1);
  for (const columns of [60, 80]) {
    const lines = onTerminal(columns, ['runs', 'health']);
    assert.match(lines.join('\n'), /Milestones +planning/);
    for (const line of lines) assert.ok(line.length <= columns, line);
  }
  const unknown = await run(['runs', 'nothing']);
  assert.equal(unknown.exitCode, exitCodes.refused);
  assert.match(unknown.stderr, /No run has the ID or reference "nothing"/);
});

test('repo unlink forgets the clone on this machine and nothing else', async () => {
  const unlinked = await json(['repo', 'unlink']);
  assert.deepEqual([unlinked.repoId, unlinked.path], [repoId, clone]);
  const { repos } = await json(['repo', 'list']);
  assert.deepEqual([repos[0].repoId, repos[0].path], [repoId, null]);
  const again = await run(['repo', 'unlink']);
  assert.equal(again.exitCode, exitCodes.refused);
  assert.match(again.stderr, /REPO_NOT_LINKED|No linked clone/);
});
