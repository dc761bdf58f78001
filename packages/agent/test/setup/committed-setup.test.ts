import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { SetupFileError, type SetupOptions, type SetupSteps } from '../../src/index.ts';
import type { FakeJob } from '../support/fake-hub.ts';
import { git, repoId, resultOf, type Setup, setup } from '../support/harness.ts';

/** As the command line gives it, but without its rules. */
const fromRepository: SetupOptions = {
  readSteps(text) {
    const steps = JSON.parse(text) as SetupSteps & { wrong?: string };
    if (steps.wrong !== undefined) throw new SetupFileError(steps.wrong);
    return steps;
  },
};

function commitSteps(clone: string, steps: object): void {
  mkdirSync(join(clone, '.signalbox'), { recursive: true });
  writeFileSync(join(clone, '.signalbox/setup.json'), JSON.stringify(steps));
  git(clone, 'add', '.');
  git(clone, 'commit', '--quiet', '-m', 'Set-up');
}

async function startAgent({ clone, start }: Setup, command: string, options = fromRepository) {
  return await start(command, { repositories: [{ repoId, path: clone, setup: options }] });
}

async function runJob({ hub }: Setup, more: Partial<FakeJob['job']> = {}): Promise<FakeJob> {
  const held = hub.enqueue({ repoId, ...more });
  await hub.until('the result', () => held.accepted !== null, 60_000);
  return held;
}

test('the set-up of the base commit runs, with what the person copies', async (t) => {
  const parts = await setup(t);
  const { clone, hub } = parts;
  commitSteps(clone, {
    run: [{ command: 'echo "by the commit"; cat .env' }],
    ports: 1,
    teardown: ['echo down'],
  });
  writeFileSync(join(clone, '.env'), 'PORT=80\n');
  const agent = await startAgent(parts, 'echo "$SIGNALBOX_PORT_1"', {
    ...fromRepository,
    copy: ['.env'],
  });
  const held = await runJob(parts);
  assert.equal(resultOf(held).outcome, 'done');
  assert.match(hub.output(held, 'stdout'), /^by the commit\nPORT=80\n2\d{4}\ndown\n$/);
  assert.match(
    hub.output(held, 'agent'),
    /set-up by \.signalbox\/setup\.json of commit [0-9a-f]{12}/,
  );
  await agent.drain();
});

test('neither a branch that a job names nor a commit of a tool brings a set-up', async (t) => {
  const parts = await setup(t);
  const { clone, hub } = parts;
  commitSteps(clone, { run: [{ command: 'echo reviewed' }] });
  const forged = JSON.stringify({ run: [{ command: 'echo forged' }] });
  const tool = `cat .signalbox/setup.json; echo '${forged}' > .signalbox/setup.json`;
  const agent = await startAgent(parts, tool);
  const first = await runJob(parts);
  const branch = String(resultOf(first).evidence.branch);
  const second = await runJob(parts, { baseBranch: branch });
  assert.equal(hub.output(second, 'stdout'), `reviewed\n${forged}\n`, 'it begins with the commit');
  await agent.drain();
});

test('a commit without the file has no set-up, and without the setting it does not count', async (t) => {
  const parts = await setup(t);
  const { clone, hub } = parts;
  const without = await startAgent(parts, 'true');
  const bare = await runJob(parts);
  assert.equal(resultOf(bare).outcome, 'done');
  assert.match(hub.output(bare, 'agent'), /commit [0-9a-f]{12} has no \.signalbox\/setup\.json/);
  await without.drain();
  commitSteps(clone, { run: [{ command: 'echo by the commit' }] });
  const agent = await startAgent(parts, 'true', {});
  assert.equal(hub.output(await runJob(parts), 'stdout'), '');
  await agent.drain();
});

test('a file that cannot be used fails the set-up: a link, a mistake, one that is too large', async (t) => {
  const cases: [write: (file: string, parts: Setup) => void, why: RegExp][] = [
    [
      (file, { directory }) => {
        writeFileSync(join(directory, 'outside.json'), '{}');
        symlinkSync(join(directory, 'outside.json'), file);
      },
      /setup\.json of commit [0-9a-f]{12} is not a regular file/,
    ],
    [
      (file) => {
        mkdirSync(file);
        writeFileSync(join(file, 'a'), '');
      },
      /is not a regular file/,
    ],
    [(file) => writeFileSync(file, ' '.repeat(256 * 1024 + 1)), /is larger than 256 KB/],
    [(file) => writeFileSync(file, '{"wrong":"run must be a text."}'), /run must be a text/],
  ];
  for (const [write, why] of cases) {
    const parts = await setup(t);
    mkdirSync(join(parts.clone, '.signalbox'));
    const file = join(parts.clone, '.signalbox/setup.json');
    write(file, parts);
    git(parts.clone, 'add', '.');
    git(parts.clone, 'commit', '--quiet', '-m', 'Set-up');
    const agent = await startAgent(parts, 'echo the tool');
    const { outcomeReason } = resultOf(await runJob(parts));
    assert.equal(outcomeReason?.code, 'setup_failed');
    assert.match(String(outcomeReason.summary), why);
    await agent.drain();
  }
});

test('what a command fills is kept for this file of set-up only', async (t) => {
  const parts = await setup(t);
  const { clone, directory } = parts;
  const counter = join(directory, 'runs');
  const step = {
    command: `echo run >> ${counter}; mkdir deps; date > deps/one`,
    key: ['README.md'],
    keep: ['deps'],
  };
  commitSteps(clone, { run: [step] });
  const agent = await startAgent(parts, 'true');
  for (let round = 0; round < 2; round++) await runJob(parts);
  assert.equal(readFileSync(counter, 'utf8'), 'run\n');
  commitSteps(clone, { run: [step], ports: 1 });
  await runJob(parts);
  assert.equal(readFileSync(counter, 'utf8'), 'run\nrun\n');
  await agent.drain();
});
