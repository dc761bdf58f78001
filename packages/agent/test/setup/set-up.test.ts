import assert from 'node:assert/strict';
import {
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Executor, SetupOptions } from '../../src/index.ts';
import { returnPorts, takePorts } from '../../src/setup/job-ports.ts';
import { setupAcp } from '../support/acp-harness.ts';
import {
  eventOf,
  fileAppears,
  git,
  makeRepository,
  repoId,
  resultOf,
  type Setup,
  setup,
} from '../support/harness.ts';

/** Runs one job in a worktree with this set-up. */
async function runOne({ hub, clone, start }: Setup, options: SetupOptions, command: string) {
  const held = hub.enqueue({ repoId });
  const agent = await start(command, { repositories: [{ repoId, path: clone, setup: options }] });
  await hub.until('the result', () => held.accepted !== null, 60_000);
  await agent.drain();
  return { held, result: resultOf(held) };
}

/** Files of the clone that git does not track, and does not ignore. */
function writeUntracked({ clone }: Setup): void {
  writeFileSync(join(clone, '.env'), 'API_TOKEN=a-secret-of-the-clone\nPORT=80\n');
  mkdirSync(join(clone, 'assets/big'), { recursive: true });
  writeFileSync(join(clone, 'assets/big/one.bin'), 'one\n');
}

test('files are copied and linked, commands run, and none of it is committed', async (t) => {
  const parts = await setup(t);
  writeUntracked(parts);
  const options: SetupOptions = {
    copy: ['.env'],
    link: ['assets/big'],
    run: [{ command: 'echo "set up in $(basename "$PWD")"; . ./.env; echo $API_TOKEN > token' }],
  };
  const command = 'cat .env assets/big/one.bin; rm token; git add -A; echo news > news.txt';
  const { held, result } = await runOne(parts, options, command);
  assert.equal(result.outcome, 'done');
  assert.deepEqual(result.evidence.changedFiles, ['news.txt']);
  const output = parts.hub.output(held, 'stdout');
  assert.equal(output, 'set up in worktree\nAPI_TOKEN=[redacted]\nPORT=80\none\n');
  assert.equal(readFileSync(join(parts.clone, 'assets/big/one.bin'), 'utf8'), 'one\n');
});

test('each step is a section of the log, with its name, its time and its end', async (t) => {
  const parts = await setup(t);
  writeUntracked(parts);
  const options = { copy: ['.env'], run: [{ command: 'echo yes' }] };
  const { held } = await runOne(parts, options, 'true');
  const calls = [...held.log.values()].flatMap(({ activity }) => activity?.toolCall ?? []);
  assert.deepEqual(
    calls.map(({ title, status, exitCode }) => [title, status, exitCode]),
    [
      ['Set-up: files .env', 'running', undefined],
      ['Set-up: files .env', 'done', undefined],
      ['Set-up: echo yes', 'running', undefined],
      ['Set-up: echo yes', 'done', 0],
    ],
  );
  assert.ok(
    calls.every(({ status, durationMs }) => status === 'running' || durationMs !== undefined),
  );
  assert.match(parts.hub.output(held), /signalbox: Set-up: echo yes\nyes\n.*: done in \d+\.\d s\n/);
});

test('a failure is one of the set-up, and the tool does not begin', async (t) => {
  const parts = await setup(t);
  const options = { run: [{ command: 'echo began; echo no registry >&2; exit 4' }] };
  const { held, result } = await runOne(parts, options, 'echo the tool');
  assert.deepEqual(result.outcomeReason, {
    category: 'environment',
    code: 'setup_failed',
    retryable: true,
    recommendedDelayMs: 30_000,
    spendsAttempt: false,
    occurrencesMax: 3,
    summary:
      'The worktree could not be set up, so the tool did not begin. ' +
      'echo began; echo no registry >&2; exit 4 exited with 4: no registry',
  });
  assert.equal(parts.hub.output(held, 'stdout'), 'began\nno registry\n');
});

test('files of others are refused: what git tracks, links, and what is not there', async (t) => {
  const cases: [prepare: (parts: Setup) => void, path: string, why: RegExp][] = [
    [() => {}, 'README.md', /README\.md is in the worktree already, .* git tracks it/],
    [() => {}, '.env', /\.env is not in the clone/],
    [
      ({ clone }) => symlinkSync('/etc/hostname', join(clone, '.env')),
      ...(['.env', /\.env of the clone is neither a file nor a folder/] as const),
    ],
    [
      ({ clone, directory }) => {
        writeFileSync(join(directory, 'secret'), 'outside\n');
        symlinkSync(directory, join(clone, 'out'));
      },
      ...(['out/secret', /out\/secret leads through out, which is not a folder/] as const),
    ],
    [
      ({ clone, directory }) => {
        symlinkSync(directory, join(clone, 'out'));
        git(clone, 'add', 'out');
        git(clone, 'commit', '--quiet', '-m', 'A link');
        rmSync(join(clone, 'out'));
        mkdirSync(join(clone, 'out'));
        writeFileSync(join(clone, 'out/secret'), 'of the clone\n');
      },
      ...(['out/secret', /out\/secret leads through out, which is not a folder/] as const),
    ],
    [
      (parts) => {
        writeUntracked(parts);
        writeFileSync(join(parts.clone, '.gitignore'), '!.env\n');
        git(parts.clone, 'add', '.gitignore');
        git(parts.clone, 'commit', '--quiet', '-m', 'Include it');
      },
      ...(['.env', /A \.gitignore includes \.env/] as const),
    ],
  ];
  for (const [prepare, path, why] of cases) {
    const parts = await setup(t);
    prepare(parts);
    const { result } = await runOne(parts, { copy: [path] }, 'true');
    assert.equal(result.outcomeReason?.code, 'setup_failed');
    assert.match(String(result.outcomeReason?.summary), why);
  }
});

test('what a command fills is kept for jobs with the same key, as it was before the tool', async (t) => {
  const parts = await setup(t);
  const { hub, clone, start, directory } = parts;
  const counter = join(directory, 'runs');
  const step = {
    command: `echo run >> ${counter}; mkdir -p lib/deps; cat lock > lib/deps/one; ln -s one lib/deps/two`,
    key: ['lock'],
    keep: ['lib/deps'],
  };
  const commit = (text: string) => {
    writeFileSync(join(clone, 'lock'), text);
    git(clone, 'add', 'lock');
    git(clone, 'commit', '--quiet', '-m', 'Lock');
  };
  commit('first');
  const tool = 'cat lib/deps/two; echo evil > lib/deps/one; echo evil > lib/deps/more; ls lib/deps';
  const agent = await start(tool, {
    repositories: [{ repoId, path: clone, setup: { run: [step] } }],
  });
  const runJob = async () => {
    const held = hub.enqueue({ repoId });
    await hub.until('the result', () => held.accepted !== null, 60_000);
    assert.equal(resultOf(held).outcome, 'done');
    assert.deepEqual(resultOf(held).evidence.changedFiles, []);
    return hub.output(held);
  };
  assert.match(await runJob(), /^firstmore\none\ntwo\n/m);
  const second = await runJob();
  assert.match(second, /copied from the cache in \d/);
  assert.match(second, /^firstmore\none\ntwo\n/m);
  assert.equal(readFileSync(counter, 'utf8'), 'run\n');
  commit('other');
  assert.match(await runJob(), /^othermore\n/m);
  assert.equal(readFileSync(counter, 'utf8'), 'run\nrun\n');
  await agent.drain();
});

test('a copy of kept folders waits for the next job, as the command has made it', async (t) => {
  const parts = await setup(t);
  const { hub, clone, start, stateDir } = parts;
  const step = { command: 'mkdir deps; echo made > deps/one', key: ['README.md'], keep: ['deps'] };
  const repositories = [{ repoId, path: clone, setup: { run: [step] } }];
  const runJob = async () => {
    const agent = await start('cat deps/one; echo evil > deps/one', { repositories });
    const held = hub.enqueue({ repoId });
    await hub.until('the result', () => held.accepted !== null, 60_000);
    await agent.drain();
    return hub.output(held, 'stdout');
  };
  assert.equal(await runJob(), 'made\n');
  const setups = join(stateDir, 'setups');
  const [repository = ''] = readdirSync(setups);
  const [key = ''] = readdirSync(join(setups, repository));
  const folder = join(setups, repository, key);
  const [master, spare = '', ...others] = readdirSync(folder).toSorted();
  assert.deepEqual([master, others], ['0', []]);
  assert.match(spare, /^spare-/);
  // Seen in the job only if it has the spare.
  writeFileSync(join(folder, spare, '0', 'one'), 'spare\n');
  mkdirSync(join(folder, 'draft-of-a-killed-agent'));
  assert.equal(await runJob(), 'spare\n');
  assert.equal(await runJob(), 'made\n', 'another copy of what the command has made');
  assert.deepEqual(
    readdirSync(folder)
      .map((name) => name.replace(/-.*/, ''))
      .toSorted(),
    ['0', 'spare'],
  );
});

test('jobs that ran together leave a copy of the kept folders for each of as many', async (t) => {
  const { hub, clone, start, stateDir, directory } = await setup(t);
  const [first, go] = [join(directory, 'first'), join(directory, 'go')];
  const step = { command: 'mkdir deps', key: ['README.md'], keep: ['deps'] };
  const wait = `mkdir ${first} || until [ -e ${go} ]; do sleep 0.02; done`;
  const setUp = { run: [{ command: wait }, step] };
  const repositories = [{ repoId, path: clone, setup: setUp }];
  const agent = await start('true', { repositories, maxConcurrentJobs: 2 });
  const spares = () => globSync('setups/*/*/spare-*', { cwd: stateDir }).length;
  const jobs = [hub.enqueue({ repoId }), hub.enqueue({ repoId })];
  await hub.until('the copy of the job that ended first', () => spares() === 1, 60_000);
  writeFileSync(go, '');
  await hub.until('the results', () => jobs.every(({ accepted }) => accepted !== null), 60_000);
  await agent.drain();
  assert.equal(spares(), 2);
});

test('what a command makes of the commits of a tool is not kept for other jobs', async (t) => {
  const h = await setupAcp(t);
  const { workspaceId, clone, client, directory } = h;
  const counter = join(directory, 'runs');
  const runs = () => readFileSync(counter, 'utf8').split('\n').length - 1;
  const commit = () => git(clone, 'commit', '--quiet', '-m', 'Lock');
  writeFileSync(join(clone, 'lock'), 'first');
  git(clone, 'add', 'lock');
  commit();
  const command = `echo run >> ${counter}; mkdir deps; cp lock deps`;
  const run = [{ command, key: ['lock'], keep: ['deps'] }];
  await h.start({ repositories: [{ repoId: h.repoId, path: clone, setup: { run } }] });
  const jobId = await h.enqueue('write lock; say Changed.');
  const { evidence } = await h.until(jobId, 'done');
  assert.equal(runs(), 1);
  const { job } = await client.jobs.continue({ workspaceId, jobId, message: 'write two.txt' });
  await h.until(job.jobId, 'done');
  assert.equal(runs(), 2, 'the tool has changed the key');
  git(clone, 'checkout', '--quiet', String(evidence?.branch), '--', 'lock');
  commit();
  await h.until(await h.enqueue('write three.txt'), 'done');
  assert.equal(runs(), 3, 'with the same key, a job from the base runs it');
  await h.until(await h.enqueue('write four.txt'), 'done');
  assert.equal(runs(), 3, 'and keeps what it has made');
});

test('a key that is not in the commit, and a folder that was not made, fail the set-up', async (t) => {
  const cases = [
    [
      { command: 'mkdir deps', key: ['lock'], keep: ['deps'] },
      /lock of the key is not in the commit/,
    ],
    [{ command: 'true', key: ['README.md'], keep: ['deps'] }, /The command made no folder deps/],
  ] as const;
  for (const [step, why] of cases) {
    const { result } = await runOne(await setup(t), { run: [step] }, 'true');
    assert.equal(result.outcomeReason?.code, 'setup_failed');
    assert.match(String(result.outcomeReason?.summary), why);
  }
});

test('a job has ports and a database of its own, and they are torn down after a failure', async (t) => {
  const parts = await setup(t);
  const setupOptions = {
    ports: 2,
    database: true,
    run: [{ command: 'echo "$SIGNALBOX_DATABASE" > made' }],
    teardown: ['echo "down $(cat made) $SIGNALBOX_PORT_1 [$SIGNALBOX_JOB_TOKEN]"', 'exit 3'],
  };
  const command = 'echo "$SIGNALBOX_DATABASE $SIGNALBOX_PORT_1 $SIGNALBOX_PORT_2"; exit 7';
  const { held, result } = await runOne(parts, setupOptions, command);
  assert.equal(result.outcomeReason?.code, 'exit_7');
  const output = parts.hub.output(held, 'stdout');
  const pattern = /^(sb_[a-z0-9]{1,8}_1) (\d{5}) (\d{5})\ndown (\S+) (\d{5}) \[\]\n$/;
  const [, database, first, second, down, port] = pattern.exec(output) ?? [];
  assert.ok(database, output);
  assert.notEqual(first, second);
  assert.deepEqual([down, port], [database, first]);
  assert.match(parts.hub.output(held, 'agent'), /exit 3 exited with 3/);
});

test('a canceled job is torn down', async (t) => {
  const { hub, clone, directory, start, events } = await setup(t);
  const began = join(directory, 'began');
  const down = join(directory, 'down');
  const held = hub.enqueue({ repoId });
  const repositories = [{ repoId, path: clone, setup: { teardown: [`echo down > ${down}`] } }];
  const agent = await start(`echo > ${began}; sleep 600`, { leaseMs: 1_500, repositories });
  await fileAppears(began);
  held.isCanceled = true;
  await hub.until('the end', () => events.some(({ type }) => type === 'job-finished'), 60_000);
  await agent.drain();
  assert.equal(readFileSync(down, 'utf8'), 'down\n');
});

test('no port is given twice, and one in use is not given', async () => {
  const all = await Promise.all(Array.from({ length: 50 }, () => takePorts(4)));
  const ports = all.flatMap((each) => each ?? []);
  assert.equal(new Set(ports).size, 200);
  returnPorts(ports);
});

test('after three failures in a row the agent claims nothing more of the repository', async (t) => {
  const { hub, clone, directory, start, events } = await setup(t);
  const other = join(directory, 'other');
  await makeRepository(other);
  const repositories = [
    { repoId, path: clone, setup: { run: [{ command: 'echo no registry; exit 4' }] } },
    { repoId: 'repo_other', path: other, setup: { run: [{ command: 'true' }] } },
  ];
  const agent = await start('true', { repositories });
  // The hub of this test offers each once more, without a delay.
  const jobs = [hub.enqueue({ repoId }), hub.enqueue({ repoId })];
  const claims = () => jobs.reduce((sum, { generation }) => sum + generation, 0);
  await hub.until('the pause', () => eventOf(events, 'paused') !== undefined, 60_000);
  const later = hub.enqueue({ repoId: 'repo_other' });
  await hub.until('the other result', () => later.accepted !== null, 60_000);
  assert.equal(claims(), 3);
  const paused = eventOf(events, 'paused');
  assert.equal(paused?.code, 'setup_failed');
  assert.deepEqual([paused?.tool, paused?.repository], [undefined, clone]);
  assert.equal(paused?.isPartial, true);
  assert.equal(
    paused?.message,
    'The set-up failed 3 times in a row: repair it and restart the agent. ' +
      'echo no registry; exit 4 exited with 4: no registry',
  );
  await agent.drain();
  const again = await start('true', { repositories });
  await hub.until('the next claim', () => claims() === 4, 60_000);
  await again.drain();
});

/** A coding tool whose sessions continue in the same worktree. */
function toolWithSessions(script: string): Executor {
  return {
    name: 'claude',
    hasSessions: true,
    check: async () => ({ version: null }),
    plan: () => ({ file: 'sh', args: ['-c', script], stdin: '' }),
  };
}

/** Runs two attempts of a job, and returns what they have noted. */
async function runTwice(parts: Setup, options: SetupOptions, script: string): Promise<string> {
  const { hub, clone, directory, start, events } = parts;
  const notes = join(directory, 'notes');
  hub.enqueue({ repoId });
  const agent = await start('', {
    env: { ...process.env, NOTES: notes },
    executor: toolWithSessions(script),
    repositories: [{ repoId, path: clone, setup: options }],
  });
  const ends = () => events.filter(({ type }) => type === 'job-finished').length;
  await hub.until('the second end', () => ends() === 2, 60_000);
  await agent.drain();
  return readFileSync(notes, 'utf8');
}

test('an attempt that continues in a worktree has what the tool left there', async (t) => {
  const parts = await setup(t);
  writeUntracked(parts);
  const options: SetupOptions = {
    copy: ['.env'],
    run: [
      { command: 'mkdir deps; echo install >> $NOTES', key: ['README.md'], keep: ['deps'] },
      { command: 'echo each >> $NOTES' },
    ],
  };
  const again = {
    outcome: 'failed',
    message: 'Again.',
    outcomeReason: { category: 'execution', code: 'again', retryable: true },
  };
  const script = `
    grep PORT .env >> $NOTES; ls deps >> $NOTES
    echo PORT=81 > .env; touch deps/mine
    echo '${JSON.stringify(again)}' > "$SIGNALBOX_RESULT_FILE"`;
  const notes = await runTwice(parts, options, script);
  assert.equal(notes, 'install\neach\nPORT=80\neach\nPORT=81\nmine\n');
});

test('after a failed set-up the next attempt begins with new files', async (t) => {
  const parts = await setup(t);
  writeUntracked(parts);
  const command = 'echo try >> $NOTES; rm .env; [ "$(wc -l < $NOTES)" -gt 1 ]';
  const notes = await runTwice(
    parts,
    { copy: ['.env'], run: [{ command }] },
    'echo tool >> $NOTES',
  );
  assert.equal(notes, 'try\ntry\ntool\n');
});
