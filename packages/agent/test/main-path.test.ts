import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { eventOf, git, repoId, resultOf, setup } from './support/harness.ts';

test('a job becomes a commit on its own branch, with evidence from git', async (t) => {
  const { hub, clone, start, events } = await setup(t);
  const held = hub.enqueue({ repoId, prompt: 'Add a greeting\n\nIn full.' });
  const agent = await start('cat > "$(printf "gr\\303\\274n name.txt")"; echo finished');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();

  const { outcome, message, evidence, claimGeneration } = resultOf(held);
  const { commitSha, changedFiles, branch } = evidence;
  assert.equal(outcome, 'done');
  assert.equal(message, 'finished');
  assert.equal(claimGeneration, 1);
  assert.deepEqual(changedFiles, ['grün name.txt']);
  assert.equal(branch, `signalbox/${held.job.jobId}-1`);
  assert.equal(git(clone, 'rev-parse', String(branch)), commitSha);
  assert.equal(git(clone, 'show', `${branch}:grün name.txt`), 'Add a greeting\n\nIn full.');
  assert.equal(
    git(clone, 'log', '-1', '--format=%an <%ae>', String(branch)),
    'Ada Person <ada@example.test>',
  );
  assert.equal(
    git(clone, 'log', '-1', '--format=%B', String(branch)),
    `Add a greeting\n\nSignalbox-Job: ${held.job.jobId}`,
  );
  assert.equal(hub.output(held, 'stdout'), 'finished\n');
  assert.equal(eventOf(events, 'job-finished')?.commitSha, commitSha);
  assert.equal(eventOf(events, 'result-accepted')?.status, 'done');
  assert.equal(hub.agentHeartbeats.at(-1)?.status, 'offline');
});

test('commits of the command itself are the evidence, without an extra commit', async (t) => {
  const { hub, clone, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  const agent = await start('git mv README.md READ.md && git commit -qm "Rename it"');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const { commitSha, changedFiles } = resultOf(held).evidence;
  assert.deepEqual(changedFiles, ['READ.md', 'README.md']);
  assert.equal(git(clone, 'log', '-1', '--format=%s', String(commitSha)), 'Rename it');
});

test('a job that changes nothing has no commit and leaves no branch', async (t) => {
  const { hub, clone, start, stateDir } = await setup(t);
  const held = hub.enqueue({ repoId });
  const agent = await start('true');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const evidence = resultOf(held).evidence;
  assert.deepEqual(evidence.changedFiles, []);
  assert.equal('commitSha' in evidence, false);
  assert.equal(git(clone, 'branch', '--list', 'signalbox/*'), '');
  assert.deepEqual(readdirSync(join(stateDir, 'jobs')), []);
  assert.equal(existsSync(join(stateDir, 'agent.lock')), false);
});

test('the person’s dirty checkout stays unchanged', async (t) => {
  const { hub, clone, start } = await setup(t);
  await writeFile(join(clone, 'README.md'), 'half an idea\n');
  await writeFile(join(clone, 'staged.txt'), 'staged\n');
  git(clone, 'add', 'staged.txt');
  await writeFile(join(clone, 'loose.txt'), 'loose\n');
  const look = () => [
    git(clone, 'status', '--porcelain=v2', '--branch', '-z'),
    git(clone, 'rev-parse', 'HEAD'),
    git(clone, 'symbolic-ref', 'HEAD'),
    git(clone, 'diff'),
    git(clone, 'stash', 'list'),
    readFileSync(join(clone, '.git', 'config'), 'utf8'),
    existsSync(join(clone, '.git', 'FETCH_HEAD')),
    git(clone, 'reflog'),
  ];
  const before = look();
  const held = hub.enqueue({ repoId });
  const agent = await start('test ! -e loose.txt && cat README.md && echo new > README.md');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  assert.equal(resultOf(held).outcome, 'done');
  assert.equal(hub.output(held, 'stdout'), 'hello\n');
  assert.deepEqual(look(), before);
});

test('the command gets the job’s variables, but neither the agent’s token nor git’s variables', async (t) => {
  const { hub, start, directory, clone } = await setup(t);
  const runId = 'run_1';
  const held = hub.enqueue({ repoId, runId, kind: 'create_run', role: 'planner' });
  const file = join(directory, 'environment');
  const agent = await start(`env -0 > ${file}; cmp - "$SIGNALBOX_PROMPT_FILE"`, {
    env: {
      ...process.env,
      SIGNALBOX_TOKEN: hub.token,
      MY_COPY: `Bearer ${hub.token}`,
      GIT_DIR: join(clone, '.git'),
      KEPT: 'yes',
    },
  });
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  assert.equal(resultOf(held).outcome, 'done', String(resultOf(held).message));
  assert.equal(resultOf(held).runId, runId);
  const text = readFileSync(file, 'utf8');
  const entries = text.split('\0').map((line): [string, string] => {
    return [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)];
  });
  const env = new Map(entries);
  assert.equal(env.get('SIGNALBOX_JOB_ID'), held.job.jobId);
  assert.equal(env.get('SIGNALBOX_JOB_TOKEN'), held.jobToken);
  assert.equal(env.get('SIGNALBOX_BASE_URL'), hub.baseUrl);
  assert.equal(env.get('SIGNALBOX_WORKSPACE_ID'), hub.workspaceId);
  assert.equal(env.get('SIGNALBOX_RUN_ID'), runId);
  assert.equal(env.get('SIGNALBOX_KIND'), 'create_run');
  assert.equal(env.get('SIGNALBOX_ROLE'), 'planner');
  assert.equal(env.get('KEPT'), 'yes');
  assert.equal(env.has('GIT_DIR'), false);
  assert.equal(text.includes(hub.token), false);
});

test('changes of a read-only job are discarded, with a note', async (t) => {
  const { hub, clone, start } = await setup(t);
  const held = hub.enqueue({ repoId, kind: 'pr_review' });
  const agent = await start('echo scribble > README.md; git commit -qam Scribble; echo more > x');
  await hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  assert.deepEqual(resultOf(held).evidence.changedFiles, []);
  assert.equal(git(clone, 'branch', '--list', 'signalbox/*'), '');
  assert.match(hub.output(held, 'agent'), /this job is read-only; its changes are discarded/);
});

test('two jobs run concurrently, each in its own worktree', async (t) => {
  const { hub, directory, start } = await setup(t);
  const first = hub.enqueue({ repoId, role: 'a' });
  const second = hub.enqueue({ repoId, role: 'b' });
  // Each job waits for the other, so running them one after the other would never end.
  const meet =
    `touch ${directory}/here-$SIGNALBOX_ROLE; other=$([ $SIGNALBOX_ROLE = a ] && echo b || echo a); ` +
    `until [ -e ${directory}/here-$other ]; do sleep 0.02; done; echo $SIGNALBOX_ROLE > README.md`;
  const agent = await start(meet, { maxConcurrentJobs: 2 });
  await hub.until('both results', () => first.accepted !== null && second.accepted !== null);
  await agent.drain();
  assert.deepEqual(resultOf(first).evidence.changedFiles, ['README.md']);
  assert.deepEqual(resultOf(second).evidence.changedFiles, ['README.md']);
});
