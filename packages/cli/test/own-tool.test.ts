/** A coding tool that a person describes in the agent's file, as a real program with sessions. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Job } from '@signalbox/contract';
import {
  clientOf,
  configFlag,
  enqueueJob,
  git,
  type HubPlace,
  linkClone,
  makeClone,
  type Running,
  startHub,
  useServiceToken,
} from './harness.ts';

/**
 * The tool. Its last argument, a file or standard input is the prompt; the first word that it knows
 * decides what it does. A session is a file below HOME.
 */
const tool = `#!/bin/sh
case "$1" in --resume) id=$2; shift 2 ;; --continue) id=$(cat ~/.mytool/last); shift ;; esac
case "$WAY" in stdin) prompt=$(cat) ;; file) prompt=$(cat "$1") ;; *) prompt=$1 ;; esac
echo "$# $PWD" >> ~/calls
mkdir -p ~/.mytool
if [ -n "$id" ]; then test -e ~/.mytool/"$id" || { echo "no session $id" >&2; exit 3; }
else id=s-$(ls ~/.mytool | wc -l); fi
printf '%s\\n' "$prompt" > ~/prompt
printf '%s\\n' "$prompt" >> ~/.mytool/"$id"; echo "$id" > ~/.mytool/last
case "$prompt" in *HOSTILE*) echo "session: \\$(touch ~/stolen)" ;; *) echo "session: $id" ;; esac
case "$prompt" in
  *interrupted*) echo resumed > resumed.txt ;;
  *HANG*) echo begun > begun.txt; exec sleep 600 ;;
  *ASK*) echo begun > begun.txt; signalbox ask "Which port?" --wait 300ms; sleep 600 ;;
esac
echo "$id" >> work.txt
echo "It is done."
`;

let place: HubPlace;
let clone: string;
let repoId: string;
const at = (...names: string[]) => join(place.directory, ...names);

before(async () => {
  place = await startHub();
  await useServiceToken(place);
  clone = makeClone(place);
  repoId = await linkClone(place, clone);
  writeFileSync(at('commands/mytool'), tool, { mode: 0o755 });
});
after(async () => await place.end());
beforeEach(() => {
  for (const name of ['.mytool', 'calls']) rmSync(at(name), { recursive: true, force: true });
});

const withId = { resume: 'mytool --resume {session}', session: '^session: (.+)$' };

/** Starts an agent that ends after one job. */
function start(settings: object, env: object = {}, flags = ['--once']): Running {
  const line = ['agent', 'start', ...flags, ...configFlag(place, settings)];
  return place.start(line, { env: { WAY: 'stdin', ...env } });
}

async function work(jobId: string, settings: object, env: object = {}) {
  const { stdout, stderr } = await start(settings, env).ended;
  const { workspaceId } = place;
  const client = clientOf(place);
  const { job } = await client.jobs.get({ workspaceId, jobId });
  const { events } = await client.jobEvents.listForJob({ workspaceId, jobId, limit: 1_000 });
  const output = events.map(({ message }) => message ?? '').join('');
  return { job, said: `${stdout}${stderr}\n${output}`, prompt: readFileSync(at('prompt'), 'utf8') };
}

async function continueJob({ jobId }: Job, message: string): Promise<string> {
  const { workspaceId } = place;
  return (await clientOf(place).jobs.continue({ workspaceId, jobId, message })).job.jobId;
}

const sessions = () => readdirSync(at('.mytool')).filter((name) => name !== 'last');
const calls = () => readFileSync(at('calls'), 'utf8').trim().split('\n');

for (const prompt of ['stdin', 'argument', 'file'] as const) {
  test(`a tool gets its prompt as ${prompt}, and the next round continues its session`, async () => {
    const settings = { tool: { command: 'mytool', prompt, ...withId } };
    const env = { WAY: prompt };
    const jobId = await enqueueJob(place, repoId, '--yolo');
    const first = await work(jobId, settings, env);
    assert.equal(first.job.status, 'done', first.said);
    assert.match(first.said, /Tool +mytool · resumes its sessions · reports no usage/);
    assert.match(first.prompt, /^Your task:\n\n--yolo\n/, 'the prompt of a job is no option');
    assert.equal(first.job.message, 'session: s-0\nIt is done.');
    assert.equal(first.job.usage, null);
    const { executor } = first.job.evidence as { executor?: Record<string, unknown> };
    const { name, tool: own, sessionId } = executor ?? {};
    assert.deepEqual(
      { name, own, sessionId },
      { name: 'command', own: 'mytool', sessionId: 's-0' },
    );
    const second = await work(await continueJob(first.job, 'Next step.'), settings, env);
    assert.equal(second.job.status, 'done', second.said);
    assert.match(second.prompt, /^Your task:\n\nNext step\.\n/);
    assert.doesNotMatch(second.prompt, /Round 1 was asked/, 'the session knows it');
    assert.deepEqual(sessions(), ['s-0']);
    const [one, two] = calls();
    assert.equal(one, two, 'the same number of arguments, in the same directory');
    const branch = String(second.job.evidence?.branch);
    assert.equal(git(clone, 'show', `${branch}:work.txt`), 's-0\ns-0');
  });
}

test('a tool that knows its last session needs no pattern', async () => {
  const settings = { tool: { command: 'mytool', resume: 'mytool --continue' } };
  const { job } = await work(await enqueueJob(place, repoId, 'Begin.'), settings);
  const { prompt } = await work(await continueJob(job, 'Next step.'), settings);
  assert.doesNotMatch(prompt, /Round 1 was asked/);
  assert.deepEqual(sessions(), ['s-0']);
});

test('a tool without sessions gets the whole context in each round', async () => {
  const settings = { tool: { command: 'mytool' } };
  const { job, said } = await work(await enqueueJob(place, repoId, 'Begin.'), settings);
  assert.match(said, /Tool +mytool · no sessions · reports no usage/);
  const { prompt } = await work(await continueJob(job, 'Next step.'), settings);
  assert.match(prompt, /Round 1 was asked:\nBegin\./);
  assert.equal(sessions().length, 2);
});

test('a session that is gone costs one round, and the next begins with the whole context', async () => {
  const settings = { tool: { command: 'mytool', ...withId } };
  const { job } = await work(await enqueueJob(place, repoId, 'Begin.'), settings);
  rmSync(at('.mytool'), { recursive: true });
  const lost = await work(await continueJob(job, 'Next step.'), settings);
  assert.match(String(lost.job.message), /exited with 3: no session s-0/);
  const again = await work(await continueJob(lost.job, 'Once more.'), settings);
  assert.equal(again.job.status, 'done', again.said);
  assert.match(again.prompt, /Round 1 was asked:\nBegin\./);
});

test('the id of a session is the word of the tool: it runs nothing', async () => {
  const settings = { tool: { command: 'mytool', ...withId } };
  const first = await work(await enqueueJob(place, repoId, 'HOSTILE'), settings);
  assert.equal(first.job.status, 'done', first.said);
  const second = await work(await continueJob(first.job, 'Next step.'), settings);
  assert.equal(second.job.status, 'done', second.said);
  assert.match(second.prompt, /Round 1 was asked/);
  assert.ok(!existsSync(at('stolen')));
});

test('a question parks the job, and its answer continues the session', async () => {
  const settings = { tool: { command: 'mytool', ...withId } };
  const { workspaceId } = place;
  const jobId = await enqueueJob(place, repoId, 'ASK for the port.');
  const blocked = await work(jobId, settings);
  assert.equal(blocked.job.status, 'blocked', blocked.said);
  assert.equal(blocked.job.message, 'A person is asked: Which port?');
  const uncertaintyId = String(blocked.job.waitingOnUncertaintyId);
  const answer = { mode: 'answered', value: '9443', confidence: 1 } as const;
  await place.console.uncertainties.addResolution({ workspaceId, uncertaintyId, ...answer });
  const { job, said, prompt } = await work(jobId, settings);
  assert.equal(job.status, 'done', said);
  assert.match(prompt, /continues now[\s\S]*Which port\?\n {2}Answer \(answered\): 9443/);
  assert.deepEqual(job.evidence?.changedFiles, ['begun.txt', 'resumed.txt', 'work.txt']);
  assert.deepEqual(sessions(), ['s-0']);
});

test('a killed agent leaves no tool, and the next one continues its session', async () => {
  const settings = { tool: { command: 'mytool', ...withId } };
  const jobId = await enqueueJob(place, repoId, 'HANG');
  const agent = start(settings, {}, []);
  await agent.says(/waiting for jobs/);
  // The log reaches the hub after the session is kept on this machine.
  const { workspaceId } = place;
  const client = clientOf(place);
  for (let output = ''; !output.includes('session: s-0'); ) {
    const { events } = await client.jobEvents.listForJob({ workspaceId, jobId, limit: 1_000 });
    output = events.map(({ message }) => message ?? '').join('');
  }
  agent.child.kill('SIGKILL');
  await agent.ended;
  const { job, said, prompt } = await work(jobId, settings);
  assert.equal(job.status, 'done', said);
  assert.match(prompt, /^Signalbox: your work on this job was interrupted/);
  assert.match(said, /session s-0 is resumed/);
  assert.deepEqual(job.evidence?.changedFiles, ['begun.txt', 'resumed.txt', 'work.txt']);
  const [one, two] = calls();
  assert.equal(one?.split(' ')[1], two?.split(' ')[1], 'in the same directory');
});

test('a prompt that does not fit into an argument ends the job, with what to do', async () => {
  const jobId = await enqueueJob(place, repoId, 'x'.repeat(140_000));
  writeFileSync(at('prompt'), '');
  const { job } = await work(jobId, { tool: { command: 'mytool', prompt: 'argument' } });
  const { code, summary, retryable } = job.outcomeReason as Record<string, unknown>;
  assert.deepEqual({ code, retryable }, { code: 'prompt_too_long', retryable: false });
  assert.match(String(summary), /Set tool\.prompt to stdin or file/);
});

test('a tool that is not there is refused before a job is claimed, and doctor names it', async () => {
  const settings = { tool: { command: 'my-missing-tool --quiet' } };
  const { exitCode, stderr } = await start(settings).ended;
  assert.equal(exitCode, 2);
  assert.match(stderr, /my-missing-tool is not on the PATH; tool\.command starts it\./);
  const config = at('doctor');
  const env = { SIGNALBOX_CONFIG_DIR: config };
  const look = async (text: string) => {
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'agent.yaml'), text);
    const { stdout } = await place.run(['doctor', '--json'], { env });
    return (JSON.parse(stdout).findings as { name: string; message: string }[]).map(
      ({ name, message }) => `${name}: ${message}`,
    );
  };
  const found = await look('tool: {command: mytool, resume: mytool --continue}');
  assert.ok(
    found.includes('mytool: installed · resumes its sessions · reports no usage'),
    `${found}`,
  );
  const lacks = await look('tool: {command: my-missing-tool}');
  const sentence = 'my-missing-tool is not on the PATH; tool.command starts it.';
  assert.ok(lacks.includes(`my-missing-tool: ${sentence}`), `${lacks}`);
});
