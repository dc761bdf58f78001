import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient } from '@signalbox/sdk';
import { commandFile, exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, startHub } from './harness.ts';

/*
 * A real hub, and the real server that a coding tool starts for its job. The test plays the agent:
 * it claims a job and sets the variables.
 */
let place: HubPlace;
let clone: string;
let workspaceId: string;
let repoId: string;
let agentId: string;
const clients: Client[] = [];

before(async () => {
  place = await startHub({ SVC_DEV_ALLOW_UNAUTH: 'true' });
  clone = makeClone(place, 'api');
  place.env.SIGNALBOX_WORKSPACE = 'dev';
  const linked = await place.run(['repo', 'link', '.', '--json'], { cwd: clone });
  ({ workspaceId, repoId } = JSON.parse(linked.stdout).repo);
  ({ agentId } = await hub().agents.heartbeat({
    workspaceId,
    machineFingerprint: 'build-7',
    displayName: 'build-7',
    capabilities: { canWrite: true, reposAllowed: [repoId] },
  }));
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
after(async () => await place.end());

const hub = () => createClient({ baseUrl: place.url });

interface Held {
  jobId: string;
  claimGeneration: number;
  env: Record<string, string>;
  worktree: string;
  reportFile: string;
}

let jobs = 0;

/** Each finds the folder exchanged between two steps in some 3 of 100 cases. */
const EXCHANGE_TRIES = 200;

/** Claims a new job, and returns the variables that an agent gives to its tool. */
async function holdJob({ holdMs = 60_000, runId }: { holdMs?: number; runId?: string } = {}) {
  const run = runId === undefined ? {} : { runId };
  const { jobId } = await hub().jobs.enqueue({
    workspaceId,
    repoId,
    kind: 'work',
    prompt: 'Do it',
    ...run,
  });
  const claimed = await hub().jobs.claimNext({ workspaceId, agentId });
  assert.equal(claimed.jobId, jobId);
  jobs += 1;
  const directory = join(place.directory, `job-${jobs}`);
  const worktree = join(directory, 'worktree');
  for (const name of ['worktree', 'tool', 'notes']) {
    mkdirSync(join(directory, name), { recursive: true });
  }
  const reportFile = join(directory, 'notes', 'report.ndjson');
  const env = {
    SIGNALBOX_BASE_URL: place.url,
    SIGNALBOX_JOB_TOKEN: claimed.jobToken ?? '',
    SIGNALBOX_WORKSPACE_ID: workspaceId,
    SIGNALBOX_JOB_ID: jobId,
    SIGNALBOX_AGENT_ID: agentId,
    SIGNALBOX_ATTEMPT: String(claimed.claimGeneration),
    SIGNALBOX_WORKTREE: worktree,
    SIGNALBOX_REPORT_FILE: reportFile,
    SIGNALBOX_RESULT_FILE: join(directory, 'tool', 'result.json'),
    SIGNALBOX_HOLD_MS: String(holdMs),
    DEPLOY_TOKEN: 'hunter2-hunter2',
  };
  const claimGeneration = claimed.claimGeneration ?? 0;
  return { jobId, claimGeneration, env, worktree, reportFile } satisfies Held;
}

async function endJob({ jobId, claimGeneration }: Held): Promise<void> {
  const ref = { workspaceId, jobId, agentId, claimGeneration };
  await hub().jobs.complete({ ...ref, outcome: 'done' });
}

type Era = 'current' | 'before 2026';

async function connect({ env }: Held, era: Era = 'current'): Promise<Client> {
  const versionNegotiation = { mode: era === 'current' ? ('auto' as const) : ('legacy' as const) };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation });
  const whole = { ...(place.env as Record<string, string>), ...env };
  const args = [commandFile, 'mcp'];
  const transport = new StdioClientTransport({ command: process.execPath, args, env: whole });
  await client.connect(transport);
  clients.push(client);
  return client;
}

interface Said {
  text: string;
  isError: boolean;
}

async function call(client: Client, name: string, args: object = {}): Promise<Said> {
  const options = { timeout: 120_000 };
  const result = await client.callTool({ name, arguments: { ...args } }, options);
  const [first] = result.content;
  assert.ok(first?.type === 'text');
  return { text: first.text, isError: result.isError === true };
}

/** Waits for the open questions of a job. */
async function questionsOf(jobId: string, count = 1) {
  for (;;) {
    const { uncertainties } = await hub().uncertainties.list({ workspaceId, jobId });
    if (uncertainties.length >= count) return uncertainties;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function answer(uncertaintyId: string, value: string, mode: 'answered' | 'dismissed') {
  await hub().uncertainties.addResolution({
    workspaceId,
    uncertaintyId,
    mode,
    value,
    confidence: 1,
  });
}

const reportOf = ({ reportFile }: Held) =>
  readFileSync(reportFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

for (const era of ['current', 'before 2026'] as const) {
  test(`a client of the protocol ${era} asks a person and gets the answer`, async () => {
    const held = await holdJob();
    const client = await connect(held, era);
    const version = client.getNegotiatedProtocolVersion() ?? '';
    assert.equal(version >= '2026', era === 'current', version);
    const asked = call(client, 'ask_person', { question: 'Which port?', options: ['1', '2'] });
    const [question] = await questionsOf(held.jobId);
    assert.ok(question);
    assert.equal(question.kind, 'choice');
    assert.equal(question.status, 'open');
    await answer(question.uncertaintyId, '2', 'answered');
    assert.deepEqual(await asked, { text: 'A person answered: 2', isError: false });
    await endJob(held);
  });
}

test('the list of tools takes at most 2,500 tokens, counted as characters / 4', async () => {
  const held = await holdJob();
  const { tools } = await (await connect(held)).listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    [
      ...['ask_person', 'check_answer', 'get_context', 'report_progress', 'report_evidence'],
      ...['report_finding', 'spawn_job', 'list_run_jobs', 'attach_file', 'finish'],
    ],
  );
  const tokens = JSON.stringify(tools).length / 4;
  assert.ok(tokens <= 2_500, `${tokens} tokens`);
  await endJob(held);
});

test('only a round with review comments has a tool to answer them', async () => {
  const held = await holdJob();
  const env = { ...held.env, SIGNALBOX_COMMENTS: '2,5' };
  const client = await connect({ ...held, env });
  const { tools } = await client.listTools();
  assert.equal(tools.at(-1)?.name, 'answer_comment');
  assert.ok(JSON.stringify(tools).length / 4 <= 2_500);
  const unknown = await call(client, 'answer_comment', { number: 3, word: 'changed', note: 'X.' });
  assert.ok(unknown.isError);
  assert.match(unknown.text, /no comment 3 to answer here; there are 2, 5/);
  const said = { number: 2, word: 'disagree', note: 'It is right as it is.' };
  assert.match((await call(client, 'answer_comment', said)).text, /beside what git says/);
  assert.deepEqual(reportOf(held), [{ type: 'answer', ...said }]);
  const asked = call(client, 'answer_comment', { number: 5, word: 'question', note: 'Which one?' });
  const [question] = await questionsOf(held.jobId);
  assert.equal(question?.prompt, 'About review comment 5: Which one?');
  await answer(question.uncertaintyId, 'The first.', 'answered');
  assert.equal((await asked).text, 'A person answered: The first.');
  await endJob(held);
});

test('no person answers in time: the tool is told to end, and the same question is asked once', async () => {
  const held = await holdJob({ holdMs: 1 });
  const question = { question: 'Which region?', why: 'The bucket is made there.' };
  const first = await call(await connect(held), 'ask_person', question);
  assert.match(first.text, /^No person has answered yet\. End your turn now/);
  assert.equal(reportOf(held).at(-1).type, 'parked');
  // Another process of the tool, as after a crash, and with other words for the reason.
  const again = await connect({ ...held, env: { ...held.env, SIGNALBOX_HOLD_MS: '60000' } });
  const asked = call(again, 'ask_person', { ...question, why: 'It cannot be moved later.' });
  const [only, ...others] = await questionsOf(held.jobId);
  assert.ok(only);
  await answer(only.uncertaintyId, 'eu-1', 'answered');
  assert.equal((await asked).text, 'A person answered: eu-1');
  assert.deepEqual(others, []);
  assert.equal((await questionsOf(held.jobId)).length, 1);
  await endJob(held);
});

test('check_answer reads answers of questions that were not waited for', async () => {
  const held = await holdJob();
  const client = await connect(held);
  const noted = await call(client, 'ask_person', { question: 'A?', wait: false });
  assert.match(noted.text, /^No answer yet\. Use check_answer with id unc_/);
  await call(client, 'ask_person', { question: 'B?', wait: false });
  const questions = await questionsOf(held.jobId, 2);
  const idOf = (prompt: string) =>
    questions.find((one) => 'prompt' in one && one.prompt === prompt)?.uncertaintyId ?? '';
  await answer(idOf('A?'), '', 'dismissed');
  assert.match((await call(client, 'check_answer', { id: idOf('A?') })).text, /dismissed/);
  const all = await call(client, 'check_answer');
  assert.match(all.text, /^- A\?\n {2}A person dismissed .*\n- B\?\n {2}No answer yet/);
  const foreign = await call(client, 'check_answer', { id: `unc_${'0'.repeat(32)}` });
  assert.ok(foreign.isError);
  assert.match(foreign.text, /NOT_ALLOWED/);
  await endJob(held);
});

test('evidence, further jobs and the end are noted for the agent, and progress is in the log', async () => {
  const held = await holdJob();
  const client = await connect(held);
  await call(client, 'report_progress', { message: 'Reading hunter2-hunter2' });
  await call(client, 'report_evidence', { check: 'npm test', outcome: 'failed', detail: '1 of 9' });
  const finding = { file: 'a.ts', line: 3, severity: 'blocker', message: 'Never ends.' };
  await call(client, 'report_finding', finding);
  const child = { kind: 'pr_review', prompt: 'Review it' };
  await call(client, 'spawn_job', child);
  assert.equal((await call(client, 'spawn_job', child)).text, 'This job is noted already.');
  await call(client, 'finish', { outcome: 'failed', message: 'It breaks.' });
  assert.deepEqual(reportOf(held), [
    { type: 'evidence', check: 'npm test', outcome: 'failed', detail: '1 of 9' },
    { type: 'finding', ...finding },
    { type: 'child', job: child },
    { type: 'finish', outcome: 'failed', message: 'It breaks.' },
  ]);
  const { events } = await hub().jobEvents.listForJob({ workspaceId, jobId: held.jobId });
  const logged = events.find(({ kind }) => kind === 'log');
  assert.equal(logged?.message, 'Reading [redacted]\n');
  const wrong = await call(client, 'spawn_job', { kind: 'nonsense', prompt: 'x' });
  assert.ok(wrong.isError);
  assert.match(wrong.text, /kind/);
  await endJob(held);
});

test('attach_file takes files of the worktree without secrets, and no others', async () => {
  const held = await holdJob();
  const client = await connect(held);
  writeFileSync(join(held.worktree, 'shot.png'), 'a picture');
  writeFileSync(join(held.worktree, 'env.txt'), 'DEPLOY=hunter2-hunter2\n');
  writeFileSync(join(place.directory, 'private'), 'a key');
  symlinkSync(join(place.directory, 'private'), join(held.worktree, 'link'));
  mkdirSync(join(held.worktree, 'shots'));
  symlinkSync('../shot.png', join(held.worktree, 'shots', 'last.png'));
  linkSync(join(place.directory, 'private'), join(held.worktree, 'second-name'));
  const attached = await call(client, 'attach_file', { path: 'shots/last.png' });
  assert.equal(attached.text, 'Attached last.png (9 bytes).');
  const [{ uploadId, contentType }] = reportOf(held);
  assert.equal(contentType, 'image/png');
  const { downloadUrl } = await hub().uploads.getDownloadUrl({ workspaceId, uploadId });
  assert.equal(await (await fetch(downloadUrl)).text(), 'a picture');
  const refused: [path: string, why: RegExp][] = [
    ['link', /outside the worktree/],
    ['../tool/../../private', /outside the worktree/],
    ['/etc/passwd', /outside the worktree/],
    ['second-name', /several names/],
    ['missing', /does not exist/],
    ['env.txt', /contains a secret/],
  ];
  for (const [path, why] of refused) {
    const { text, isError } = await call(client, 'attach_file', { path });
    assert.ok(isError, path);
    assert.match(text, why);
  }
  assert.equal(reportOf(held).length, 1);
  await endJob(held);
});

test('attach_file follows no folder that is exchanged for a link while it reads', async () => {
  const held = await holdJob();
  const client = await connect(held);
  const outside = join(place.directory, 'exchanged');
  for (const [folder, text] of [
    [join(held.worktree, 'shots'), 'mine'],
    [outside, 'the file of a person'],
  ] as const) {
    mkdirSync(join(folder, 'deep'), { recursive: true });
    writeFileSync(join(folder, 'deep', 'last.txt'), text);
  }
  symlinkSync(outside, join(held.worktree, 'link'));
  const exchange = [
    ...['const { renameSync: move } = require("node:fs");', 'for (;;) {'],
    ...['move("shots", "away"); move("link", "shots");'],
    ...['move("shots", "link"); move("away", "shots");', '}'],
  ];
  const exchanging = spawn(process.execPath, ['-e', exchange.join('\n')], { cwd: held.worktree });
  try {
    for (let tries = 0; tries < EXCHANGE_TRIES; tries++) {
      const { text } = await call(client, 'attach_file', { path: 'shots/deep/last.txt' });
      assert.doesNotMatch(text, /\(20 bytes\)/, `try ${tries}`);
    }
  } finally {
    exchanging.kill('SIGKILL');
    await once(exchanging, 'close');
  }
  await endJob(held);
});

test('nothing is written through a link in the place of the report', async () => {
  const held = await holdJob();
  const person = join(place.directory, 'bashrc');
  writeFileSync(person, '# mine\n');
  symlinkSync(person, held.reportFile);
  const client = await connect(held);
  const finish = { outcome: 'done', message: '$(touch ran)' };
  const child = { kind: 'work', prompt: '$(touch ran)' };
  for (const [name, args] of [['finish', finish] as const, ['spawn_job', child] as const]) {
    const { text, isError } = await call(client, name, args);
    assert.ok(isError, name);
    assert.match(text, /^The report of the tool: The file is not accessible: it is a link\.$/);
  }
  const asked = await place.run(['ask', '$(touch ran)', '--wait', '1s'], { env: held.env });
  assert.equal(asked.exitCode, exitCodes.usage);
  assert.match(asked.stderr, /it is a link\.\n.*REPORT_INVALID/);
  assert.equal(readFileSync(person, 'utf8'), '# mine\n');
  await endJob(held);
});

test('get_context and list_run_jobs are about the run of the job', async () => {
  const { runId } = await hub().runs.upsertV1({
    workspaceId,
    repoId,
    runRef: 'ports',
    title: 'Ports',
    status: 'in_progress',
  });
  const add = async (title: string, text: string) => {
    const source = `test:${title}`;
    await hub().contextItems.upsert({ workspaceId, kind: 'note', source, title, text });
  };
  await add('Ports', 'The balancer reaches 8080 and 9443.');
  await add('Colours', 'Blue is the colour of buttons.');
  const held = await holdJob({ runId });
  const client = await connect(held);
  const found = await call(client, 'get_context', { search: 'balancer' });
  assert.match(found.text, /^## Ports\n/, found.text);
  assert.doesNotMatch(found.text, /Colours/);
  const unknown = await call(client, 'get_context', { search: 'elephant' });
  assert.match(unknown.text, /^No section has these words\. .*\n- (Ports|Colours)\n- /);
  const { text } = await call(client, 'list_run_jobs');
  assert.equal(text, `- ${held.jobId} work running (this job): Do it`);
  await endJob(held);
  const alone = await holdJob();
  const none = await call(await connect(alone), 'get_context');
  assert.deepEqual(none, {
    text: 'This job belongs to no run, so there is no context for it.',
    isError: true,
  });
  await endJob(alone);
});

test('after the end of an attempt its tools can write nothing more', async () => {
  const held = await holdJob();
  const client = await connect(held);
  await endJob(held);
  const { text, isError } = await call(client, 'ask_person', { question: 'Late?' });
  assert.ok(isError);
  assert.match(text, /^This attempt of the job has ended \(.*\)\. Stop working now\.$/);
});

test('ask prints the answer, and its exit code says what became of the question', async () => {
  const held = await holdJob();
  const { env } = held;
  const line = ['ask', 'Deploy?', '--option', 'yes', '--option', 'no', '--kind', 'approval'];
  const late = await place.run([...line, '--wait', '1s'], { env });
  assert.equal(late.exitCode, exitCodes.blocked, late.stderr);
  assert.equal(late.stdout, '');
  assert.match(late.stderr, /No person has answered yet/);
  const asking = place.run(line, { env });
  const [question] = await questionsOf(held.jobId);
  assert.ok(question);
  assert.equal(question.kind, 'approval');
  await answer(question.uncertaintyId, 'yes', 'answered');
  const { exitCode, stdout } = await asking;
  assert.deepEqual({ exitCode, stdout }, { exitCode: exitCodes.ok, stdout: 'yes\n' });
  const again = await place.run([...line, '--json'], { env });
  assert.deepEqual(JSON.parse(again.stdout), {
    uncertaintyId: question.uncertaintyId,
    status: 'answered',
    answer: 'yes',
  });
  const which = ['ask', 'Which?', '--option', 'a', '--recommend', 'a', '--deadline', '2h'];
  const parked = await place.run([...which, '--wait', '1s'], { env });
  assert.equal(parked.exitCode, exitCodes.blocked, parked.stderr);
  const [newest] = await questionsOf(held.jobId, 2);
  assert.partialDeepStrictEqual(newest, { recommendedValue: 'a', onDeadline: 'keep_waiting' });
  assert.ok(Date.parse(newest?.deadlineAt ?? '') > Date.now());
  // The deadline is another moment now; the question is the same.
  const other = place.run([...which, '--json'], { env });
  await answer(newest?.uncertaintyId ?? '', '', 'dismissed');
  assert.equal((await other).exitCode, exitCodes.canceled);
  await endJob(held);
});

test('a job whose command asks is blocked without an answer, and gets it in its next attempt', async () => {
  const { jobId } = await hub().jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt: 'Do' });
  const asking = 'signalbox ask "Which zone?" --wait 1s > zone.txt || exit';
  const line = ['agent', 'start', '--once', '--name', 'asker', '--tool', asking];
  const first = await place.run(line);
  assert.equal(first.exitCode, exitCodes.blocked, first.stderr);
  const [question, ...others] = await questionsOf(jobId);
  const { job: blocked } = await hub().jobs.get({ workspaceId, jobId });
  assert.equal(blocked.status, 'blocked');
  assert.equal(blocked.message, 'A person is asked: Which zone?');
  assert.equal(blocked.waitingOnUncertaintyId, question?.uncertaintyId);
  await answer(question?.uncertaintyId ?? '', 'zone-b', 'answered');
  const second = await place.run(line);
  assert.equal(second.exitCode, exitCodes.ok, second.stderr);
  const { job: done } = await hub().jobs.get({ workspaceId, jobId });
  assert.equal(done.status, 'done');
  const { branch } = done.evidence as { branch?: string };
  const zone = execFileSync('git', ['show', `${branch}:zone.txt`], { cwd: clone });
  assert.equal(zone.toString(), 'zone-b\n');
  assert.deepEqual(others, []);
  assert.equal((await questionsOf(jobId)).length, 1, 'the person is asked once');
});

test('ask and mcp work in a job only', async () => {
  for (const line of [['ask', 'Which?'], ['mcp']]) {
    const { exitCode, stderr } = await place.run(line);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(stderr, /SIGNALBOX_JOB_TOKEN is not set\. This command works in a job only/);
  }
});
